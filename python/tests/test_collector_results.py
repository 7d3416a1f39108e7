# SPDX-License-Identifier: BSD-3-Clause
"""Postprocess, checkpoints and traces: they see and give what they would without us,
and are not taken for chunks."""

from __future__ import annotations

import awkward as ak
import cloudpickle
import lz4.frame
import pytest
from coffea.nanoevents.trace import trace
from coffea.processor import SimpleCheckpointer

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    Plain,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    starts,
    threads,
)
from roastcoffea import track_metrics
from support import KEY, waiting

pool = pytest.fixture(scope="module", name="pool")(open_pool)


@pytest.fixture(params=["iterative", "processes"])
def executor(request):
    if request.param == "processes":
        return processes(request.getfixturevalue("pool"), retries=0)
    return iterative(retries=0)


class Post(Measured):
    """Its postprocess() notes the keys that it saw, and gives what it is told to."""

    def __init__(self, give):
        self.give = give
        self.seen = None

    def postprocess(self, accumulator):
        self.seen = set(accumulator)
        return self.give(accumulator)


GIVEN = {
    "None": lambda accumulator: None,
    "the same": lambda accumulator: accumulator,
    "another dict": lambda accumulator: {"mean": accumulator["sum"]},
    "a number": lambda accumulator: accumulator["n"],
    "a list": lambda accumulator: list(accumulator),
    "False": lambda accumulator: False,
}


@pytest.mark.parametrize("executor", [iterative, threads])
@pytest.mark.parametrize("kind", GIVEN)
def test_postprocess_sees_and_gives_what_it_would_unmeasured(kind, executor, tiny_file):
    runner = make_runner(executor(retries=0))
    plain = runner(fileset_of(tiny_file), processor_instance=Post(GIVEN[kind]))
    analysis = Post(GIVEN[kind])
    with roastcoffea.MetricsCollector() as collector:
        output = runner(fileset_of(tiny_file), processor_instance=analysis)
    assert analysis.seen == {"n", "sum"}
    assert isinstance(output, dict) == (
        KEY in output if type(output) is dict else False
    )
    collector.extract_metrics_from_output(output)
    assert type(output) is type(plain)
    if kind != "a list":
        assert output == plain
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    assert starts(analysis._chunk_metrics) == [0, 1000, 2000]


def test_object_that_postprocess_gives_is_not_modified(tiny_file):
    kept = {"mine": 1}
    with roastcoffea.MetricsCollector():
        output = make_runner()(fileset_of(tiny_file), Post(lambda _: kept))
    assert kept == {"mine": 1}
    assert set(output) == {"mine", KEY}


@pytest.mark.parametrize("mine", [7, None, "text", {"a": 1}])
def test_something_of_the_users_under_our_key_is_left_alone(mine, tiny_file):
    given = {KEY: mine, "n": 1}
    with roastcoffea.MetricsCollector() as collector:
        output = make_runner()(fileset_of(tiny_file), Post(lambda _: given))
    assert output == given == {KEY: mine, "n": 1}
    assert len(collector.chunk_metrics) == CHUNKS
    assert collector.get_metrics()["monitor_first_error"] == ""


def test_failing_postprocess_is_the_users(tiny_file):
    def fail(accumulator):
        raise ValueError("mine")

    with (
        pytest.raises(ValueError, match="mine"),
        roastcoffea.MetricsCollector() as collector,
    ):
        make_runner()(fileset_of(tiny_file), processor_instance=Post(fail))
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    assert collector.get_metrics()["partial"] is True
    assert collector.get_metrics()["num_successful_chunks"] == CHUNKS


# ---- checkpoints and traces --------------------------------------------------------


def test_replayed_chunks_leave_no_new_records(executor, tiny_file, tmp_path):
    runner = make_runner(executor, checkpointer=SimpleCheckpointer(str(tmp_path)))
    collector = roastcoffea.MetricsCollector()
    with collector:
        first = runner(fileset_of(tiny_file), processor_instance=Measured())
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    with collector:
        second = runner(fileset_of(tiny_file), processor_instance=Measured())
    assert collector.chunk_metrics == []
    assert KEY not in second
    first.pop(KEY)
    assert second == first
    metrics = collector.get_metrics()
    assert metrics["total_events"] == EVENTS
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["monitor_first_error"] == ""


def test_checkpoints_hold_the_users_output_alone(tiny_file, tmp_path):
    checkpointer = SimpleCheckpointer(str(tmp_path))
    with roastcoffea.MetricsCollector():
        make_runner(checkpointer=checkpointer)(fileset_of(tiny_file), Measured())
    files = list(tmp_path.rglob("*.coffea"))
    assert len(files) == CHUNKS
    for path in files:
        saved = cloudpickle.loads(lz4.frame.decompress(path.read_bytes()))
        assert set(saved) == {"out", "processed"}
        assert set(saved["out"]) == {"n", "sum"}


def traced(process, events):
    """coffea's own, which tries several ways; it must have called process()."""
    columns = trace(process, events)
    assert columns
    return columns


class ListOutput(Measured):
    """Its output cannot carry our key."""

    @track_metrics
    def process(self, events):
        return [float(ak.sum(events.Hit_value))]


@pytest.mark.filterwarnings("ignore:Exception during typetracer:RuntimeWarning")
@pytest.mark.parametrize("analysis", [Plain, Measured, ListOutput])
def test_tracing_is_not_a_chunk(analysis, tiny_file):
    runner = make_runner(chunksize=1000)
    with roastcoffea.MetricsCollector() as collector:
        output = runner(fileset_of(tiny_file), analysis(), trace=traced)
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    metrics = collector.get_metrics()
    assert metrics["num_attempts"] == CHUNKS
    assert metrics["total_events"] == EVENTS
    assert waiting() == []
    assert output
