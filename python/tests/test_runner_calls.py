# SPDX-License-Identifier: BSD-3-Clause
"""The table of the calls of the Runner in a block, and what was recorded in chunks."""

from __future__ import annotations

import warnings

import pytest
from coffea import processor

import roastcoffea
from clusters import dask_runner, shared_client
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Failing,
    Plain,
    fileset_of,
    iterative,
    make_runner,
)
from roastcoffea import BaseInstrumentationContext, _core, track_memory, track_metrics

client = pytest.fixture(scope="module")(shared_client)

TITLE = "Calls of the Runner"


class Recording(Plain):
    """Records numbers, a text in one chunk, and memory of two sections."""

    @track_metrics
    def process(self, events):
        start = events.metadata["entrystart"]
        with BaseInstrumentationContext(self, "selection") as context:
            context.record_metric("jets", start // 1000)
            context.record_metric("jets", start // 1000 + 1)  # the last one counts
            context.record_metric("cuts", {"pt": [30.0, 50.0], "eta": {"max": 2.4}})
            context.record_metric("odd", "text" if start == 0 else 0.5)
            if start == 2000:
                context.record_metric("rare", True)
        with track_memory(self, "outer"), track_memory(self, "inner"):
            pass
        return {"n": len(events)}


class Faulty(Plain):
    """Raises in chunks that begin there."""

    def __init__(self, *bad):
        self.bad = bad

    def process(self, events):
        if events.metadata["entrystart"] in self.bad:
            raise OSError("mine")
        return {"n": len(events)}


def processes():
    return processor.FuturesExecutor(workers=2, status=False)


@pytest.fixture
def skipping():
    """A runner that skips chunks that raise, without coffea's warnings of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield make_runner(iterative(retries=0), skipbadfiles=True)


# ---- calls that run again what others missed -----------------------------------------


def test_page_of_a_run_that_is_whole_again(skipping, tiny_file):
    """Chunks that a later call ran are not missing, nor planned twice."""
    with roastcoffea.monitor() as run:
        skipping(fileset_of(tiny_file), Faulty(0, 1000))
        skipping(run.failed_items(), Faulty(1000))
        skipping((item for item in run.failed_items()), Faulty())
        assert run.failed_items() == []
    metrics = run.get_metrics()
    assert run.state == "finished"
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == CHUNKS
    assert (metrics["num_retried_chunks"], metrics["num_failed_chunks"]) == (2, 0)
    (failures,) = (row for row in metrics["findings"] if row["id"] == "failures")
    assert failures["advice"].startswith("they succeeded when tried again")
    assert f"{CHUNKS} of {CHUNKS} chunks" in _core.live_line(run._core, 1.0)


def test_items_of_two_calls_are_run_again_together(skipping, tiny_file):
    with roastcoffea.monitor() as run:
        first = skipping({"a": [str(tiny_file)]}, Faulty(0), treename="Events")
        second = skipping({"b": [str(tiny_file)]}, Faulty(1000), treename="Events")
        items = run.failed_items(call=1) + run.failed_items(call=2)
        third = skipping(items, Faulty())
        assert run.failed_items() == []
    assert first["n"] + second["n"] + third["n"] == 2 * EVENTS
    assert run.state == "finished"


def test_other_analysis_of_the_same_chunks_is_another_pass(skipping, tiny_file):
    """What it did well is still missing in the first result."""
    with roastcoffea.monitor() as run:
        skipping(fileset_of(tiny_file), Faulty(1000))
        assert len(run.failed_items()) == 1
        skipping(fileset_of(tiny_file), Plain())
        skipping(list(skipping.preprocess(fileset_of(tiny_file))), Faulty())
    assert len(run.failed_items()) == 1
    assert run.state == "incomplete"
    assert run.get_metrics()["num_chunks"] == 3 * CHUNKS


# ---- calls ---------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [iterative, processes])
def test_calls_of_a_block(executor, tiny_file):
    with roastcoffea.monitor() as run:
        runner = make_runner(executor())
        items = list(runner.preprocess(fileset_of(tiny_file)))
        runner(fileset_of(tiny_file), Plain())
        with pytest.raises(Exception, match="mine"):
            make_runner(iterative(retries=0))(
                fileset_of(tiny_file), Failing(ValueError("mine"))
            )
        runner(items[:1], Plain())
    metrics = run.get_metrics()
    first, failed, last = metrics["calls"]
    assert [row["call"] for row in (first, failed, last)] == [1, 2, 3]
    assert [row["state"] for row in (first, failed, last)] == [
        "returned",
        "raised",
        "returned",
    ]
    assert (first["num_chunks"], first["total_events"]) == (CHUNKS, EVENTS)
    assert (failed["num_chunks"], failed["failures"]) == (1, 1)
    assert (last["num_chunks"], last["total_events"]) == (1, 1000)
    assert (last["num_attempts"], last["failures"]) == (1, 0)
    assert first["preprocess_time"] > 0 == last["preprocess_time"]
    assert 0 <= first["after"] < failed["after"] < last["after"]
    assert sum(row["wall_time"] for row in metrics["calls"]) < metrics["wall_time"]
    assert [*run.calls["start"]] == sorted(run.calls["start"])
    assert TITLE in run._page("full")


def test_one_call_has_no_part_on_the_page(tiny_file):
    with roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), Plain())
    (row,) = run.get_metrics()["calls"]
    assert row["state"] == "returned"
    assert TITLE not in run._page("full")


def test_calls_on_dask(client, tiny_file, tmp_path):
    with roastcoffea.monitor() as run:
        for _ in range(2):
            dask_runner(client)(fileset_of(tiny_file), Plain())
    run.save(tmp_path / "run.roast")
    for each in (run, roastcoffea.open_run(tmp_path / "run.roast")):
        rows = each.get_metrics()["calls"]
        assert [row["num_chunks"] for row in rows] == [CHUNKS, CHUNKS]
        assert [row["state"] for row in rows] == ["returned", "returned"]


# ---- recorded numbers, memory of sections --------------------------------------------


def check_recorded(run):
    metrics = run.get_metrics()
    recorded = metrics["recorded_metrics"]
    assert recorded["jets"] == {"count": 3, "mean": 2.0, "min": 1.0, "max": 3.0}
    assert recorded["odd"] == {"count": 2, "mean": 0.5, "min": 0.5, "max": 0.5}
    assert recorded["rare"] == {"count": 1, "mean": 1.0, "min": 1.0, "max": 1.0}
    assert recorded["cuts"]["count"] == 0
    assert recorded["cuts"].get("mean") is None
    inner, outer = (metrics["sections"][name] for name in ("inner", "outer"))
    highest = max(record["mem_peak_mb"] for record in run.chunk_metrics)
    assert 0 < inner["memory_peak_mb"] <= outer["memory_peak_mb"] <= highest
    peaks = dict(
        zip(run.sections["name"], run.sections["memory_peak_bytes"], strict=True)
    )
    assert peaks["outer"] == outer["memory_peak_mb"] * 2**20
    of_chunks = run.chunk_sections["memory_peak_bytes"]
    assert max(peak for peak in of_chunks if peak) == peaks["outer"]
    page = run._page("full")
    assert "Recorded metrics" in page
    assert "Memory of sections" in page


@pytest.mark.parametrize("executor", [iterative, processes])
def test_numbers_that_users_recorded(executor, tiny_file):
    with roastcoffea.monitor() as run:
        make_runner(executor())(fileset_of(tiny_file), Recording())
    check_recorded(run)


def test_numbers_that_users_recorded_on_dask(client, tiny_file):
    with roastcoffea.monitor() as run:
        dask_runner(client)(fileset_of(tiny_file), Recording())
    check_recorded(run)


def test_nothing_recorded(tiny_file):
    with roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), Plain())
    assert run.get_metrics()["recorded_metrics"] == {}
    assert "Recorded metrics" not in run._page("full")
