# SPDX-License-Identifier: BSD-3-Clause
"""Attempts that fail in other processes, are tried again or die with their worker: the
user sees what coffea shows, the collector knows every one of them."""

from __future__ import annotations

import dataclasses
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import loky
import pytest
from coffea.nanoevents import BaseSchema
from coffea.processor import FuturesExecutor, IterativeExecutor, ProcessorABC, Runner
from loky.process_executor import TerminatedWorkerError

from outputs import (
    FLAKY,
    Failing,
    Measured,
    failures,
    identities,
    once,
    places,
    processes,
    run,
)
from roastcoffea import MetricsCollector, track_metrics
from support import KEY, OneByOne

CHUNK, CHUNKS = 100, 30
DOOMED = 700  # first entry of the chunk that never works


class Undecorated(Failing):
    process = Failing.process.__wrapped__


# ---- tried again -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Failing, Undecorated])
def test_attempts_that_are_tried_again_are_known(kind, tiny_file):
    with MetricsCollector() as collector:
        output = run(kind(f"again {kind}"), tiny_file, processes(), CHUNK)
    assert output["sum"] == sum(range(0, 3000, CHUNK))
    metrics = collector.get_metrics()
    expected = [(start, start + CHUNK, 1, "failed", True) for start in FLAKY]
    columns = ("entry_start", "entry_stop", "attempt", "status", "resolved")
    assert failures(metrics, *columns) == expected
    for row in metrics["failures"]:
        assert row["file"] == str(tiny_file)
        assert row["dataset"] == "x"
        assert row["error_type"] == "ValueError"
        assert "password" not in row["error_message"]
        assert row["pid"] != os.getpid()
    assert metrics["num_chunks"] == CHUNKS
    assert metrics["losses"] == {}


def test_records_of_all_attempts_are_there_the_output_carries_the_good_ones(tiny_file):
    with MetricsCollector() as collector:
        output = run(Failing("records"), tiny_file, processes(), CHUNK)
    assert places(output[KEY]) == once(tiny_file, CHUNK)
    assert {record["status"] for record in output[KEY]} == {"ok"}
    chunks = collector.chunk_metrics
    assert len(identities(chunks)) == len(chunks) == CHUNKS + len(FLAKY)
    again = [c for c in chunks if c["entry_start"] in FLAKY]
    found = sorted((c["entry_start"], c["attempt"], c["status"]) for c in again)
    assert found == [(s, n, t) for s in FLAKY for n, t in ((1, "failed"), (2, "ok"))]


@pytest.mark.parametrize("kind", [Failing, Undecorated])
def test_chunk_that_never_works_ends_the_run_as_ever(kind, tiny_file):
    executor = processes(retries=2)
    with pytest.raises(Exception, match="Failed processing file") as plain:
        run(kind("plain", (DOOMED,)), tiny_file, executor, CHUNK)
    with (
        MetricsCollector() as collector,
        pytest.raises(Exception, match="Failed processing file") as seen,
    ):
        run(kind("doomed", (DOOMED,)), tiny_file, executor, CHUNK)
    assert type(seen.value) is type(plain.value)
    assert str(seen.value) == str(plain.value)
    metrics = collector.get_metrics()
    doomed = [row for row in metrics["failures"] if row["entry_start"] == DOOMED]
    found = [(row["attempt"], row["status"], row["resolved"]) for row in doomed]
    assert found == [(n, "failed", False) for n in (1, 2, 3)]
    assert metrics["partial"]
    assert "ValueError" in collector.run._page("text")
    assert "password" not in collector.run._page("text")


def test_chunks_that_outlive_their_run_do_not_show_in_the_next_one(tiny_file):
    """Coffea leaves them to the pool, and their frames have no receiver."""
    executor = processes(retries=0)
    with MetricsCollector(), pytest.raises(Exception, match="Failed processing file"):
        run(Failing("first", (0,)), tiny_file, executor, 15)
    with MetricsCollector() as collector:
        run(Measured("int"), tiny_file, executor, CHUNK)
    metrics = collector.get_metrics()
    assert places(collector.chunk_metrics) == once(tiny_file, CHUNK)
    assert metrics["failures"] == []
    assert metrics["losses"] == {}
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]


def test_recovered_run_gives_what_was_finished(tiny_file):
    analysis = Failing("recovered", (DOOMED,))
    executor = processes(retries=0, recoverable=True)
    executor.pool = OneByOne(executor.pool)
    with (
        MetricsCollector() as collector,
        pytest.raises(Exception, match="Failed") as seen,
    ):
        run(analysis, tiny_file, executor, CHUNK)
    good = [c for c in collector.chunk_metrics if c["status"] == "ok"]
    done = sum(c["entry_start"] for c in good)
    assert seen.value.partial_output["sum"] == done
    assert len(identities(good)) == len(good)
    assert KEY not in seen.value.partial_output


def test_file_that_is_gone_is_known_though_process_was_not_reached(tiny_file):
    runner = Runner(
        executor=processes(),
        pre_executor=IterativeExecutor(status=False),
        schema=BaseSchema,
        chunksize=CHUNK,
        skipbadfiles=True,
    )
    items = list(runner.preprocess({"x": {"files": {str(tiny_file): "Events"}}}))
    gone = [dataclasses.replace(items[0], filename="/nowhere/gone.root")]
    with MetricsCollector() as collector:
        output = runner(items + gone, processor_instance=Measured("int"))
    assert output == sum(range(0, 3000, CHUNK))
    metrics = collector.get_metrics()
    columns = ("file", "entry_start", "attempt", "error_type", "resolved")
    expected = [
        ("/nowhere/gone.root", 0, n, "FileNotFoundError", False) for n in (1, 2, 3, 4)
    ]
    assert failures(metrics, *columns) == expected
    assert metrics["num_chunks"] == CHUNKS + 1


# ---- the worker dies -----------------------------------------------------------------


class Deadly(ProcessorABC):
    """One chunk is the end of its worker."""

    @track_metrics
    def process(self, events):
        start = events.metadata["entrystart"]
        if start == DOOMED:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"sum": start}

    def postprocess(self, accumulator):
        return accumulator


POOLS = {
    "loky": (loky.ProcessPoolExecutor, TerminatedWorkerError),
    "fork": (ProcessPoolExecutor, BrokenProcessPool),
}


@pytest.mark.parametrize(("pool", "error"), POOLS.values(), ids=POOLS)
def test_worker_that_is_killed_in_a_chunk(pool, error, tiny_file):
    """One worker, so that exactly the chunks before the deadly one are finished."""
    executor = FuturesExecutor(pool=pool, workers=1, status=False)
    with MetricsCollector() as collector, pytest.raises(error):
        run(Deadly(), tiny_file, executor, CHUNK)
    metrics = collector.get_metrics()
    columns = ("file", "dataset", "entry_start", "entry_stop", "status", "resolved")
    expected = (str(tiny_file), "x", DOOMED, DOOMED + CHUNK, "lost", False)
    assert failures(metrics, *columns) == [expected]
    assert places(collector.chunk_metrics) == once(tiny_file, CHUNK, events=DOOMED)
    assert metrics["num_chunks_processed"] == DOOMED // CHUNK
    assert metrics["num_lost_attempts"] == 1
    assert metrics["losses"] == {}
    assert metrics["partial"]
