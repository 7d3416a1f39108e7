# SPDX-License-Identifier: BSD-3-Clause
"""The slices of a chunk against clocks that the test itself puts round its work, for
every kind of processor and executor."""

from __future__ import annotations

import concurrent.futures
import statistics

import awkward as ak
import loky
import pytest
from coffea.nanoevents import NanoAODSchema

import roastcoffea
from collector_helpers import (
    CHUNKS,
    Failing,
    Measured,
    MeasuredFailing,
    Plain,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    threads,
)
from ladder_clocks import clocked_futures, clocked_iterative, needs_schedstat, watch
from roastcoffea import track_metrics
from support import SANITIZED

pool = pytest.fixture(scope="module", name="pool")(open_pool)
SLICES = (
    "import",
    "open",
    "form",
    "fetch",
    "decompress",
    "interpret",
    "read_other",
    "compute",
    "write",
    "result",
    "unnamed",
)


def function(events):
    return Plain().process(events)


@track_metrics
def decorated_function(events):
    return Plain().process(events)


class Slots:
    """No place for an attribute of ours, and no ProcessorABC."""

    __slots__ = ("cut",)

    def __call__(self, events):
        return Plain().process(events)


class MeasuredSlots(Slots):
    __slots__ = ()

    @track_metrics
    def __call__(self, events):
        return Slots.__call__(self, events)


PROCESSORS = {
    "plain": Plain,
    "decorated": Measured,
    "function": lambda: function,
    "decorated function": lambda: decorated_function,
    "__slots__": Slots,
    "decorated __slots__": MeasuredSlots,
}
OWN_S = 5e-3 if SANITIZED else 1e-3  # what is done for a chunk and not part of it
EXECUTORS = ("iterative", "threads", "threads unpacked", "processes")


@pytest.fixture(scope="module", params=EXECUTORS)
def kind(request):
    return request.param


@pytest.fixture(
    scope="module", params=[*PROCESSORS, "not pickled"], ids=lambda name: name
)
def chunks(request, kind, tiny_file, tmp_path_factory):
    """Those of one run with that executor and processor."""
    folder = tmp_path_factory.mktemp("clocks")
    options = {}
    if request.param == "not pickled":
        options["processor_compression"] = None
    analysis = PROCESSORS.get(request.param, Plain)()
    if kind == "iterative":
        executor = clocked_iterative(folder)
        return watch(executor, folder, tiny_file, analysis, **options).chunks
    if kind == "processes":
        executor = clocked_futures(request.getfixturevalue("pool"), folder)
        return watch(executor, folder, tiny_file, analysis, **options).chunks
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        packing = {"compression": None} if kind == "threads unpacked" else {}
        executor = clocked_futures(two, folder, **packing)
        return watch(executor, folder, tiny_file, analysis, **options).chunks


def test_every_chunk_has_all_slices(chunks):
    assert len(chunks) == CHUNKS
    for chunk in chunks:
        assert tuple(chunk.ladder) == SLICES


def test_slices_add_up_to_the_wall_of_the_chunk(chunks):
    for chunk in chunks:
        total = sum(chunk.ladder.values())
        assert chunk.inner.wall - 1e-6 <= total <= chunk.outer.wall + 1e-6


def test_slices_leave_less_than_a_percent_or_a_millisecond(chunks):
    """Of CPU time, and as a rule: other work of the machine may come between any two
    clocks, but then this thread waits."""
    excess = []
    for chunk in chunks:
        waited = max(chunk.outer.waited - chunk.inner.waited, 0.0)
        left = chunk.outer.wall - sum(chunk.ladder.values()) - waited
        excess.append(left - max(0.01 * chunk.outer.wall, OWN_S))
    assert statistics.median(excess) <= 0


def test_slices_add_up_to_the_time_of_the_task(chunks):
    for chunk in chunks:
        total = sum(chunk.ladder.values())
        assert total == pytest.approx(chunk.record["task_time"], abs=1e-8)


def test_no_slice_is_negative_and_none_goes_without_a_name(chunks):
    for chunk in chunks:
        assert min(chunk.ladder.values()) >= 0
        assert chunk.ladder["unnamed"] == 0
        assert chunk.ladder["write"] == 0


def test_each_step_of_a_chunk_took_some_time(chunks):
    steps = {"open", "form", "fetch", "decompress", "interpret", "read_other"}
    for chunk in chunks:
        assert min(chunk.ladder[name] for name in steps | {"compute"}) > 0


def test_packing_is_a_slice_of_its_own_where_there_is_some(chunks, kind):
    for chunk in chunks:
        packed = kind in ("threads", "processes")
        assert not packed or chunk.ladder["result"] > 0


@needs_schedstat
def test_split_adds_up_to_the_time_of_the_task(chunks):
    for chunk in chunks:
        split = chunk.record["split"]
        assert set(split) == {"on_cpu", "runqueue", "fetch_wait", "blocked"}
        assert min(split.values()) >= 0
        total = sum(split.values())
        assert total == pytest.approx(chunk.record["task_time"], abs=1e-8)


@needs_schedstat
def test_split_lies_between_the_clocks_of_the_thread(chunks):
    for chunk in chunks:
        split = chunk.record["split"]
        low, high = chunk.inner, chunk.outer
        assert low.cpu - 1e-4 <= split["on_cpu"] <= high.cpu + 1e-4
        assert low.runqueue - 1e-3 <= split["runqueue"] <= high.runqueue + 1e-4


# ---- real files ----------------------------------------------------------------------


def muons(events):
    return {"n": len(events), "sum": float(ak.sum(events.Muon.pt))}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of schemas
@pytest.mark.parametrize(
    "name",
    [
        "nano_tt_v12.root",
        pytest.param("nano_dimuon_rntuple.root", marks=pytest.mark.long),
        "nano_dimuon.parquet",
    ],
)
def test_slices_of_real_files_add_up_to_the_wall(real_folder, tmp_path, name):
    how = {"schema": NanoAODSchema, "chunksize": 10**6}
    if name.endswith("parquet"):
        how["format"] = "parquet"
    executor = clocked_iterative(tmp_path)
    (chunk,) = watch(executor, tmp_path, real_folder / name, muons, **how).chunks
    total = sum(chunk.ladder.values())
    assert chunk.inner.wall - 1e-6 <= total <= chunk.outer.wall + 1e-6
    waited = max(chunk.outer.waited - chunk.inner.waited, 0.0)
    assert total >= 0.99 * chunk.outer.wall - waited
    assert min(chunk.ladder[name] for name in ("open", "form", "interpret")) > 0
    assert chunk.ladder["unnamed"] == 0


# ---- all of them together ------------------------------------------------------------


def test_ladder_of_the_run_is_the_sum_of_its_chunks(tiny_file):
    with roastcoffea.monitor() as collector:
        make_runner(threads())(fileset_of(tiny_file), processor_instance=Plain())
    metrics = collector.get_metrics()
    for name in SLICES:
        total = sum(record["ladder"][name] for record in collector.chunk_metrics)
        assert metrics["ladder"][name] == pytest.approx(total, abs=1e-8)
    for name, seconds in metrics["chunk_split"].items():
        total = sum(record["split"][name] for record in collector.chunk_metrics)
        assert seconds == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("kind", [Failing, MeasuredFailing])
def test_slices_of_a_chunk_that_fails_add_up_too(tiny_file, kind):
    with roastcoffea.monitor() as collector, pytest.raises(Exception, match="mine"):
        make_runner()(fileset_of(tiny_file), kind(ValueError("mine")))
    (record,) = (r for r in collector.chunk_metrics if r["status"] == "failed")
    total = sum(record["ladder"].values())
    assert total == pytest.approx(record["task_time"], abs=1e-8)
    assert min(record["ladder"].values()) >= 0
    assert record["ladder"]["compute"] > 0


def test_first_chunk_of_each_process_is_marked(tiny_file):
    """Once, whether it is decorated or not."""
    by_process = {}
    with loky.ProcessPoolExecutor(max_workers=1) as one:
        for analysis in (Plain(), Measured(), Plain()):
            with roastcoffea.monitor() as collector:
                executor = processes(one, retries=0)
                make_runner(executor)(fileset_of(tiny_file), analysis)
            for record in sorted(collector.chunk_metrics, key=lambda r: r["t_start"]):
                by_process.setdefault(record["pid"], []).append(record)
    for records in by_process.values():
        marks = [record.get("first_chunk", False) for record in records]
        assert marks == [True] + [False] * (len(records) - 1)


def test_later_runs_in_a_process_have_no_first_chunk(tiny_file):
    runner = make_runner(iterative())
    runner(fileset_of(tiny_file), processor_instance=Plain())
    for _ in range(2):
        with roastcoffea.monitor() as collector:
            runner(fileset_of(tiny_file), processor_instance=Plain())
    assert not any(record.get("first_chunk") for record in collector.chunk_metrics)


def test_process_that_is_not_decorated_ends_with_coffea(tiny_file):
    runner = make_runner(savemetrics=True)
    with roastcoffea.monitor() as collector:
        _, report = runner(fileset_of(tiny_file), processor_instance=Plain())
    records = collector.chunk_metrics
    inside_s = sum(record["duration"] for record in records)
    around_s = sum(record["task_time"] for record in records)
    built_s = sum(record["ladder"]["form"] for record in records)
    assert inside_s <= around_s - built_s
    closing_s = sum(record["ladder"]["result"] for record in records)
    assert closing_s > 0  # what follows has its own name
    assert report["processtime"] <= inside_s + closing_s
