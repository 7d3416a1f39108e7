# SPDX-License-Identifier: BSD-3-Clause
"""An unknown coffea or uproot: the run works, unknown values are absent with a reason,
and a hook that fails or costs too much changes nothing."""

from __future__ import annotations

import re

import pytest
import uproot
from coffea.nanoevents import NanoEventsFactory

from hook_checks import Originals, fresh_hooks
from reads import (
    CHUNKS,
    EVENTS,
    NAMES,
    Reader,
    Run,
    bytes_of,
    check_bytes,
    fileset,
    kind_folder,
)
from roastcoffea import _probe
from roastcoffea.coffea import hook_list, hooks
from support import ROOT

renewed = pytest.fixture(name="renewed")(fresh_hooks)
folder = pytest.fixture(scope="module", name="folder")(kind_folder)
PLACED = sorted({place.name for place in hook_list.PLACES} | {"source"})
KIND_OF = dict.fromkeys(("pages", "clusters", "page_lists"), "rntuple") | {
    name: "parquet" for name in PLACED if "parquet" in name
}


def slices_of_hooks():
    """{hook: slices that need it}, from the list itself."""
    rows = (ROOT / "include/roast/hooks.def").read_text().split("\nH(")[1:]
    return {row.split(",")[1].strip(): re.findall(r"SLICE\((\w+)", row) for row in rows}


SLICES = slices_of_hooks()


def without(monkeypatch, name):
    """As if the place of a hook did not exist."""
    find = hooks.find
    monkeypatch.setattr(
        hooks, "find", lambda hook, *place: None if hook == name else find(hook, *place)
    )


def read(folder, kind, analysis=None, **options):
    """A run over a file of some kind."""
    path = folder / ("events.parquet" if kind == "parquet" else f"{kind}.root")
    if kind == "parquet":
        options["format"] = "parquet"
    return Run(fileset(path), analysis or Reader(NAMES), **options)


@pytest.fixture(scope="module")
def expected(folder):
    """Runs with all hooks."""
    return {kind: read(folder, kind) for kind in ("zlib", "rntuple", "parquet")}


def check_absent(run, name):
    """The slices that need a hook are not there, and it is said why."""
    lost = set(SLICES[name])
    (row,) = run.metrics["hooks_missing"]
    assert row["hook"] == name
    assert row["chunks"] == CHUNKS
    for ladder in (run.metrics["ladder"], *(c["ladder"] for c in run.chunks)):
        assert not lost & ladder.keys()
        assert all(seconds >= 0 for seconds in ladder.values())
        assert (ladder["unnamed"] > 0) == bool(lost)
    for slice_name in lost:
        assert row["lost"] in run.metrics["unavailable"][f"ladder.{slice_name}"]
    for chunk in run.chunks:
        assert sum(chunk["ladder"].values()) == pytest.approx(chunk["task_time"])


# ---- one at a time ----------------------------------------------------------------


@pytest.mark.parametrize("name", PLACED)
def test_without_a_hook_its_slices_are_absent_and_say_why(
    folder, expected, renewed, name
):
    kind = KIND_OF.get(name, "zlib")
    without(renewed, name)
    originals = Originals()
    run = read(folder, kind)
    originals.check()
    assert run.out == expected[kind].out
    check_absent(run, name)


@pytest.mark.parametrize(
    ("name", "table"), [("source", "per_endpoint"), ("from_root", "file_metadata")]
)
def test_without_a_hook_its_tables_are_empty_and_say_why(folder, renewed, name, table):
    without(renewed, name)
    run = read(folder, "zlib")
    assert not run.metrics[table]
    assert run.metrics["unavailable"][table]


@pytest.mark.parametrize("name", ["pages", "clusters"])
def test_a_tree_needs_no_hook_of_an_rntuple(folder, renewed, name):
    without(renewed, name)
    run = read(folder, "zlib")
    assert run.metrics["hooks_missing"] == []
    assert set(SLICES[name]) <= run.metrics["ladder"].keys()


@pytest.mark.parametrize("kind", ["zlib", "rntuple"])
@pytest.mark.parametrize("name", ["extract_root", "open", "baskets", "clusters"])
def test_bytes_of_branches_are_known_without_a_hook(
    folder, expected, renewed, name, kind
):
    """There is another way to each: the names that uproot has for what it reads, the
    file that events are built from."""
    without(renewed, name)
    run = read(folder, kind)
    for chunk, known in zip(run.chunks, expected[kind].chunks, strict=True):
        assert bytes_of(chunk) == bytes_of(known)
        assert chunk["column_bytes"] == known["column_bytes"]
        assert chunk["accessed_branches"] == known["accessed_branches"]
        assert chunk["offset_branches"] == known["offset_branches"]
        assert chunk["cached_reads"] == known["cached_reads"]


def test_what_cannot_be_counted_is_not_zero(folder, renewed):
    without(renewed, "submit")
    run = read(folder, "zlib")
    names = ("column_bytes", "cached_reads")
    assert not {*names} & run.metrics.keys()
    assert all(run.metrics["unavailable"][name] for name in names)
    assert not any(name in chunk for chunk in run.chunks for name in names)


def test_without_any_hook_time_is_unnamed(folder, expected, renewed):
    renewed.setattr(hooks, "find", lambda *place: None)
    run = read(folder, "zlib")
    assert run.out == expected["zlib"].out
    for chunk in run.chunks:
        assert chunk["ladder"]["unnamed"] > 0
        assert sum(chunk["ladder"].values()) == pytest.approx(chunk["task_time"])
    assert "total_branches_read" not in run.metrics
    assert run.metrics["unavailable"]["total_branches_read"]


# ---- other versions of others -----------------------------------------------------


def test_a_place_of_another_kind_is_left_alone(folder, expected, renewed):
    """What is called with other arguments than we know."""
    bound = NanoEventsFactory.from_root
    renewed.setattr(
        NanoEventsFactory, "from_root", staticmethod(lambda *a, **k: bound(*a, **k))
    )
    run = read(folder, "zlib")
    assert run.out == expected["zlib"].out
    check_absent(run, "from_root")


def test_a_function_replaced_by_other_code_is_hooked(folder, renewed):
    calls, original = [], uproot.open

    def mine(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    renewed.setattr(uproot, "open", mine)
    run = read(folder, "zlib")
    assert uproot.open is mine
    assert len(calls) >= CHUNKS
    assert run.metrics["hooks_missing"] == []
    check_bytes(run)


# ---- hooks that fail --------------------------------------------------------------


class Odd:
    """A name of a column that cannot be read."""

    def __init__(self, error):
        self.branch = self
        self.error = error

    def __str__(self):
        raise self.error


class Log(list):
    """An access log that keeps something else."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def append(self, entry):
        super().append(Odd(self.error))


class OddLog(Reader):
    """Puts such a log in the place of coffea's."""

    def __init__(self, error):
        super().__init__(NAMES)
        self.error = error

    def process(self, events):
        events.attrs["@events_factory"]._mapping._access_log = Log(self.error)
        return super().process(events)


def test_a_failing_hook_is_counted_and_changes_nothing(
    folder, expected, monitor_errors
):
    run = read(folder, "zlib", OddLog(RuntimeError("no name")))
    assert run.out == expected["zlib"].out
    columns = len(NAMES) + 2  # and the counters of the jagged ones
    assert monitor_errors() == run.metrics["monitor_errors"] == CHUNKS * columns
    assert "no name" in run.metrics["monitor_first_error"]
    for chunk in run.chunks:
        assert sum(chunk["ladder"].values()) == pytest.approx(chunk["task_time"])


def test_a_ctrl_c_inside_a_hook_is_the_users(folder):
    originals = Originals()
    with pytest.raises(KeyboardInterrupt):
        read(folder, "zlib", OddLog(KeyboardInterrupt()))
    originals.check()


def test_a_worker_that_errs_too_often_gives_up(folder, expected, monitor_errors):
    originals = Originals()
    run = read(folder, "zlib", OddLog(RuntimeError("no")), chunksize=EVENTS // 24)
    originals.check()
    assert run.out == expected["zlib"].out
    assert not _probe.status()["enabled"]
    assert 100 <= monitor_errors() < 24 * len(NAMES)


def test_a_footer_that_cannot_be_described_is_counted(
    folder, expected, renewed, monitor_errors
):
    renewed.setattr(hooks, "describe_parquet", lambda factory: 1 / 0)
    run = read(folder, "parquet")
    assert run.out == expected["parquet"].out
    assert monitor_errors() == CHUNKS
    assert not run.metrics["file_metadata"]


class Awaited:
    """A range that was requested from a source, of another uproot."""

    _raw_data = None


def test_a_range_of_an_unknown_source_is_counted(tmp_path, monitor_errors):
    number, kind = hook_list.NUMBER["chunk_wait"], hook_list.PLAIN
    wait = _probe.hook(number, kind, lambda chunk, insist: insist)
    other = _probe.process_id() ^ 1  # the collector's process is another one
    item = ("data", "file.root", "Events", None, 0, 10)
    _probe.attempt_begin(b"r" * 16, other, (str(tmp_path),), item)
    _probe.ladder_arm(0)
    assert wait(Awaited(), 7) == 7
    _probe.attempt_end(other, (str(tmp_path),), None)
    assert monitor_errors() == 1


# ---- hooks that cost too much -----------------------------------------------------


@pytest.fixture
def costly(renewed):
    """Calls through hooks cost a second each, by what was measured."""
    setup = _probe.ladder_setup
    renewed.setattr(_probe, "ladder_setup", lambda *args: setup(*args, 10**9))
    yield
    setup(None, None, 0)


def test_hooks_that_cost_too_much_are_given_up(folder, expected, costly):
    originals = Originals()
    run = read(folder, "zlib", chunksize=EVENTS // 6)
    originals.check()
    run.chunks.sort(key=lambda chunk: chunk["t_start"])
    assert run.out["Hit_value"] == expected["zlib"].out["Hit_value"]
    calls = [chunk.get("hook_calls", 0) for chunk in run.chunks]
    assert all(calls[:3])
    assert not any(calls[3:])
    (row,) = run.metrics["hooks_missing"]
    assert (row["hook"], row["chunks"]) == ("cost", 3)
    for chunk in run.chunks[3:]:
        assert chunk["ladder"] == {"unnamed": pytest.approx(chunk["task_time"])}
    assert run.metrics["hook_seconds"] >= 3
    again = read(folder, "zlib")
    assert again.out == expected["zlib"].out
    assert set(again.metrics["ladder"]) == {"unnamed"}
    assert "total_branches_read" not in again.metrics
