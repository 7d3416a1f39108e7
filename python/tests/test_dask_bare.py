# SPDX-License-Identifier: BSD-3-Clause
"""Workers without our package: their event loops go on while they import a copy, a run
may end meanwhile, and code of ours that comes after a run leaves nothing there."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clusters import await_until
from roastcoffea.dask import install
from worker_plugins import (
    SECONDS,
    Plugged,
    dask_worker,
    link_others,
    make_function,
    one,
    open_scheduler,
    state,
)

SHIPPED = "measured: copy of the client's package"
INSTALLED = "measured: installed package"
LATE = "unmeasured: roastcoffea is still being imported there"
FUTURE = "from __future__ import annotations\n"
SLOW = """
import pathlib, time
while not pathlib.Path({go!r}).exists():
    time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def client():
    yield from open_scheduler(sys.modules[__name__])


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    return link_others(tmp_path_factory.mktemp("bare") / "site")


@pytest.fixture
def bare(client, others):
    """A worker with everything but us."""
    with dask_worker(client, others) as name:
        yield name


class Blocker:
    """Holds up the import of one name, in whatever thread that is."""

    def __init__(self, name):
        self.name_held_up = name
        self.is_reached, self.may_go_on = threading.Event(), threading.Event()

    def find_spec(self, name, path=None, target=None):
        if name == self.name_held_up:
            self.is_reached.set()
            self.may_go_on.wait(SECONDS)


def block(name, dask_worker):
    dask_worker.blocker = Blocker(name)
    sys.meta_path.insert(0, dask_worker.blocker)


def is_blocked(dask_worker):
    return dask_worker.blocker.is_reached.is_set()


def go_on(dask_worker):
    dask_worker.blocker.may_go_on.set()


def is_left(client, before):
    """Whether everything is as before, except the copy, which stays loaded."""
    now, name = state(client), install.package().name
    modules, files = now.pop("modules"), now.pop("files")
    is_copy = [x.partition(".")[0] == name for x in modules]
    new = set(files) - set(before["files"])
    is_folder = [x.rpartition("-")[0] == name for x in new]
    return all(is_copy + is_folder) and now == {key: before[key] for key in now}


# The first is looked for to know whether we are there, the second one behind the copy.
@pytest.mark.parametrize("name", ["roastcoffea", "coffea_metrics"])
def test_run_may_end_while_a_worker_imports(client, bare, name):
    client.run(block, name)
    before = state(client)
    received = Plugged(client)
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(received.__enter__)
        await_until(lambda: all(client.run(is_blocked).values()))  # the loop goes on
        assert one(client, len, [1, 2]) == 2
        received.leave()
        (last,) = received.last_words()
        assert last.words == ["last", "0"]
        assert state(client)["plugins"] == before["plugins"]
        client.run(go_on)
        begun.result(SECONDS)
    await_until(lambda: is_left(client, before))
    assert received.all()[-1] is last
    client.unsubscribe_topic(received.mark)
    with Plugged(client) as another, another.tasks():
        assert another.status() == [SHIPPED]
        one(client, make_function(), [1])
        another.records("chunk", 1)
    assert is_left(client, before)


# ---- a worker that joins -------------------------------------------------------------


@pytest.fixture
def slow(tmp_path):
    """A folder with our package, whose import ends when there is a file `go` in it."""
    ours, package = Path(install.__file__).parents[1], tmp_path / "roastcoffea"
    package.mkdir()
    for entry in ours.iterdir():
        if entry.name not in ("__init__.py", "__pycache__"):
            (package / entry.name).symlink_to(entry)
    text = (ours / "__init__.py").read_text()
    assert FUTURE in text
    waiting = FUTURE + SLOW.format(go=str(tmp_path / "go"))
    (package / "__init__.py").write_text(text.replace(FUTURE, waiting))
    return tmp_path


def test_worker_that_joins_does_not_wait_for_an_import(client, others, slow):
    """Nor do tasks whose functions mention us: they run unmeasured until it is done."""
    with (
        Plugged(client) as received,
        dask_worker(client, others, slow),
        received.tasks(),
    ):
        assert received.status() == [LATE]
        assert one(client, make_function(), [1, 2]) == {"n": 2}
        (slow / "go").touch()
        assert received.status(2) == [LATE, INSTALLED]
        # It says so before its last line: it may be there for a moment.
        await_until(lambda: state(client)["threads"] == [])
        assert one(client, make_function(), [1, 2, 3]) == {"n": 3}
        (record,) = received.records("chunk", 1)
        assert record["num_events"] == 3


def test_worker_whose_import_never_ends_can_go(client, others, slow):
    with Plugged(client) as received, dask_worker(client, others, slow) as name:
        assert received.status() == [LATE]
        (pid,) = client.run(os.getpid).values()
        assert client.retire_workers(names=[name])
        (last,) = received.last_words()
        assert last.words == ["last", "0"]
        await_until(lambda: has_ended(pid))


def has_ended(pid):
    """The process has not been waited for."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


# ---- code that comes after a run -----------------------------------------------------


def make_waiting():
    def wait(folder):
        import time
        from pathlib import Path

        while not Path(folder, "go").exists():
            time.sleep(0.01)
        return [1, 2]

    return wait


@pytest.mark.parametrize("ships", [True, False])
def test_function_that_comes_after_the_run_leaves_nothing(
    client, bare, tmp_path, monkeypatch, ships
):
    """It was sent in the block, and what it waits for ends after it."""
    if not ships:
        monkeypatch.setattr(install, "_why_not", lambda: "forbidden")
    before = state(client)
    with Plugged(client) as received, received.tasks():
        (status,) = received.status()
        assert status == SHIPPED if ships else status == "unmeasured: forbidden"
        waited = client.submit(make_waiting(), str(tmp_path), pure=False)
        counted = client.submit(make_function(), waited, pure=False)
    Path(tmp_path, "go").touch()
    assert counted.result() == {"n": 2}
    assert one(client, make_function(), [1, 2, 3]) == {"n": 3}
    assert is_left(client, before)


def test_odd_text_does_not_cut_a_worker_off(client, bare, monkeypatch):
    monkeypatch.setattr(install, "_why_not", lambda: "odd \udcff text")
    with Plugged(client) as received:
        assert received.status() == ["unmeasured: odd ? text"]
        assert one(client, make_function(), [1, 2]) == {"n": 2}
