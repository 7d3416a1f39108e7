# SPDX-License-Identifier: BSD-3-Clause
"""Workers without our package, or with an earlier one, in interpreters of their own:
they get a copy for the run, and are as they were when it ends, but for the copy."""

from __future__ import annotations

import sys
import textwrap
import zlib
from pathlib import Path

import awkward as ak
import dask
import pytest
from coffea.processor import ProcessorABC

from clusters import dask_runner
from collector_helpers import EVENTS, fileset_of, starts
from roastcoffea import MetricsCollector, track_metrics, track_time
from roastcoffea.dask import install
from worker_plugins import (
    Plugged,
    dask_worker,
    libraries,
    link_others,
    one,
    open_scheduler,
    state,
)

MODULE = """
    import coffea_metrics, roastcoffea.instrumentation
    from roastcoffea import MetricsCollector, load_measurement, track_metrics

    class Analysis:
        @track_metrics
        def process(self, events):
            return {"n": len(events)}
"""
EARLIER = """
    __version__ = "0.1.2"

    def __getattr__(name):
        raise RuntimeError("something imported " + name)
"""
SHIPPED = "measured: copy of the client's package"


@pytest.fixture(scope="module")
def client():
    yield from open_scheduler(sys.modules[__name__])


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    return link_others(tmp_path_factory.mktemp("bare") / "site")


@pytest.fixture
def users(tmp_path):
    """A folder with a module of the user's that mentions us."""
    folder = tmp_path / "users"
    folder.mkdir()
    (folder / "users_module.py").write_text(textwrap.dedent(MODULE))
    return folder


@pytest.fixture
def bare(client, others, users):
    """A worker with everything but us."""
    with dask_worker(client, others, users) as name:
        yield name


def check_left(client, before):
    """Everything is as before, except the copy: it stays loaded, in its folder."""
    now, name = state(client), install.package().name
    assert {x.partition(".")[0] for x in now.pop("modules")} <= {name}
    files = set(now.pop("files")) - set(before["files"])
    assert {x.rpartition("-")[0] for x in files} <= {name}
    assert now == {key: before[key] for key in now}


def make_count():
    """Taken by value, as from a notebook."""

    @track_metrics
    def count(events):
        with track_time(None, "counting"):
            return {"n": len(events)}

    return count


def make_call():
    """Calls what a worker imports by itself."""

    def call(events):
        import users_module

        return users_module.Analysis().process(events)

    return call


# ---- a worker that has nothing of ours -----------------------------------------------


def test_copy_measures_code_by_value_and_by_reference(client, bare):
    before = state(client)
    with Plugged(client) as received, received.tasks():
        assert received.status() == [SHIPPED]
        assert one(client, make_count(), [1, 2]) == {"n": 2}
        assert one(client, make_call(), [1, 2, 3]) == {"n": 3}
        records = received.records("chunk", 2)
        assert sorted(record["num_events"] for record in records) == [2, 3]
        during = state(client)
        assert install.package().name in during["modules"]
        assert during["path"] == before["path"]
        assert during["finders"] == before["finders"]
    check_left(client, before)


def test_code_of_the_run_goes_on_after_its_end(client, bare):
    with Plugged(client) as received, received.tasks():
        count = make_count()
        one(client, count, [1])
        one(client, make_call(), [1])
    before = state(client)
    assert one(client, count, [1, 2]) == {"n": 2}
    assert one(client, make_call(), [1, 2, 3]) == {"n": 3}
    assert state(client) == before


def test_next_run_uses_the_copy_that_is_loaded(client, bare):
    before = state(client)
    for run in range(3):
        with Plugged(client) as received, received.tasks():
            assert one(client, make_call(), [1]) == {"n": 1}
            assert one(client, make_count(), [1]) == {"n": 1}
            received.records("chunk", 2)
        assert list(client.run(libraries).values()) == [1], run
    check_left(client, before)


def test_public_name_stays_while_another_run_needs_it(client, bare):
    before = state(client)
    with Plugged(client) as first:
        with Plugged(client) as second:
            assert second.status() == [SHIPPED]
        assert "roastcoffea" in state(client)["modules"]
        with first.tasks():
            one(client, make_count(), [1])
        first.records("chunk", 1)
    check_left(client, before)


def test_names_that_are_not_there_say_so_when_they_are_called(client, bare):
    def call():
        import users_module

        return users_module.MetricsCollector(None)

    with Plugged(client), pytest.raises(ImportError, match="not on this worker"):
        one(client, call)


def test_worker_that_joins_later_gets_a_copy_too(client, bare, others):
    with Plugged(client) as received, dask_worker(client, others) as late:
        assert received.status(2) == [SHIPPED, SHIPPED]
        with received.tasks():
            future = client.submit(make_count(), [1], workers=late, pure=False)
            assert future.result() == {"n": 1}
        received.records("chunk", 1)


def test_setting_forbids_copies(client, bare):
    before = state(client)
    forbidden = dask.config.set({"roastcoffea.ship": False})
    with forbidden, Plugged(client) as received, received.tasks():
        (status,) = received.status()
        assert one(client, make_count(), [1, 2]) == {"n": 2}
        assert state(client)["finders"] == before["finders"]
        assert not any(each.records for each in received.all())
    assert status.startswith("unmeasured: roastcoffea is not installed there")
    assert "roastcoffea.ship" in status
    assert state(client) == before


def test_copy_for_another_machine_leaves_the_worker_unmeasured(
    client, bare, monkeypatch
):
    sent = install.package()
    binary = bytearray(zlib.decompress(sent.files["_probe.abi3.so"]))
    binary[18:20] = (0xF3).to_bytes(2, "little")  # e_machine: RISC-V
    files = sent.files | {"_probe.abi3.so": zlib.compress(bytes(binary))}
    other = install.Package(sent.name + "x", files)
    monkeypatch.setattr(install, "package", lambda: other)
    before = state(client)
    with Plugged(client) as received, received.tasks():
        (status,) = received.status()
        assert status.startswith("unmeasured: ImportError")
        assert one(client, make_count(), [1, 2]) == {"n": 2}
    assert state(client) == before


def make_analysis():
    class Local(ProcessorABC):
        @track_metrics
        def process(self, events):
            with track_time(self, "sum"):
                return {"n": len(events), "sum": float(ak.sum(events.Hit_value))}

        def postprocess(self, accumulator):
            return None

    return Local()


def test_run_of_coffea_is_whole(client, bare, tiny_file):
    """A collector and a Runner, and a worker that has coffea alone."""
    before = state(client)
    with MetricsCollector(client) as collector:
        output, _ = dask_runner(client)(
            fileset_of(tiny_file), processor_instance=make_analysis()
        )
    assert output["n"] == EVENTS
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    for record in collector.chunk_metrics:
        assert list(record["timing"]) == ["sum"]
        assert record["ladder"]["result"] > 0
        assert record["accessed_branches"]
    check_left(client, before)


# ---- a worker that has something -----------------------------------------------------


def test_earlier_package_is_left_alone_and_the_copy_measures(client, others, tmp_path):
    package = tmp_path / "earlier" / "roastcoffea"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(textwrap.dedent(EARLIER))

    def version():
        import roastcoffea

        return roastcoffea.__version__

    with dask_worker(client, others, package.parent):
        before = state(client)
        with Plugged(client) as received, received.tasks():
            assert received.status() == [SHIPPED]
            assert one(client, make_count(), [1, 2]) == {"n": 2}
            assert "roastcoffea" not in state(client)["modules"]
            assert one(client, version) == "0.1.2"
            assert one(client, make_count(), [1, 2]) == {"n": 2}
            received.records("chunk", 2)
        new = set(state(client)["modules"]) - set(before["modules"])
        names = {name.partition(".")[0] for name in new}
        assert names == {"roastcoffea", install.package().name}
        assert not [name for name in new if name.startswith("roastcoffea.")]
        assert one(client, version) == "0.1.2"
        with dask.config.set({"roastcoffea.ship": False}), Plugged(client) as received:
            assert one(client, make_count(), [1, 2]) == {"n": 2}
            assert received.status()[0].startswith("unmeasured")
        assert one(client, version) == "0.1.2"


def test_worker_that_is_switched_off_reports_it(client, others):
    with dask_worker(client, others, ROASTCOFFEA="off"):
        with Plugged(client) as received, received.tasks():
            (status,) = received.status()
            assert one(client, make_count(), [1, 2]) == {"n": 2}
        assert "ROASTCOFFEA=off" in status
        assert "roastcoffea" not in state(client)["modules"]


def test_installed_package_is_used(client, others):
    ours = Path(install.__file__).parents[2]
    with (
        dask_worker(client, others, ours),
        Plugged(client) as received,
        received.tasks(),
    ):
        assert received.status() == ["measured: installed package"]
        one(client, make_count(), [1])
        received.records("chunk", 1)
        assert install.package().name not in state(client)["modules"]
