# SPDX-License-Identifier: BSD-3-Clause
"""A worker is killed in the middle of a chunk, at a random one and a random moment: the
output is the one without that, and what it cost is counted to the last attempt.

The processor keeps its own books of what began where, which no part of ours has seen.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from distributed import get_worker

from clusters import Once, await_until, dask_runner, open_client
from collector_helpers import EVENTS, Measured, Plain, fileset_of, make_runner, starts
from roastcoffea import MetricsCollector, track_metrics

CHUNKS = 6
STARTS = list(range(0, EVENTS, EVENTS // CHUNKS))
LONGEST_DELAY_S = 0.3

client = pytest.fixture(scope="module")(open_client)


class Held(Measured):
    """Stays in one chunk until its process is killed; the next attempt goes through."""

    def __init__(self, folder: Path, entry: int) -> None:
        self.folder = str(folder)
        self.entry = entry
        self.once = Once(folder)

    @track_metrics
    def process(self, events: Any) -> Any:
        entry = events.metadata["entrystart"]
        with Path(self.folder, "begun").open("a") as books:
            books.write(f"{entry}\n")
        if entry == self.entry and self.once("held"):
            # After all that this worker has sent to the scheduler until now.
            worker = get_worker()
            reported = [worker.address, os.getpid(), time.time()]
            worker.log_event(self.folder, reported)
            threading.Event().wait()
        return Plain.process(self, events)


class Killer(threading.Thread):
    """Kills the process that has the chunk, a moment after it began."""

    def __init__(self, client: Any, folder: Path, delay_s: float) -> None:
        super().__init__()
        self.client = client
        self.topic = str(folder)
        self.delay_s = delay_s
        self.worker, self.pid = "", 0
        self.lost_s = 0.0

    def run(self) -> None:
        ((_, (self.worker, self.pid, begun)),) = await_until(self._reported)
        time.sleep(self.delay_s)  # the moment is what is tried
        self.lost_s = time.time() - begun
        os.kill(self.pid, signal.SIGKILL)

    def _reported(self) -> Any:
        return self.client.get_events(self.topic)


@pytest.fixture(scope="module")
def expected(tiny_file):
    runner = make_runner(chunksize=EVENTS // CHUNKS)
    return runner(fileset_of(tiny_file), processor_instance=Plain())


def seeds(often: int, in_all: int) -> list[Any]:
    """Some of them always, the others where there is time."""
    long = pytest.mark.long
    return [*range(often), *(pytest.param(n, marks=long) for n in range(often, in_all))]


@pytest.mark.parametrize("seed", seeds(3, 50))
def test_a_worker_killed_in_the_middle_of_a_chunk(
    client, tiny_file, tmp_path, expected, seed
):
    draw = random.Random(seed)
    entry = draw.choice(STARTS)
    killer = Killer(client, tmp_path, draw.uniform(0, LONGEST_DELAY_S))
    client.wait_for_workers(2, timeout=120)
    killer.start()
    with MetricsCollector(client) as collector:
        output, _ = dask_runner(client, CHUNKS)(
            fileset_of(tiny_file), processor_instance=Held(tmp_path, entry)
        )
        output = collector.extract_metrics_from_output(output)
    killer.join()
    assert output == expected
    assert collector.run.failed_items() == []
    begun = Counter(map(int, (tmp_path / "begun").read_text().split()))
    check_counts(collector, begun)
    check_loss(collector, entry, killer)


def check_counts(collector, begun):
    """Every chunk once, and every attempt at it."""
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert starts(collector.chunk_metrics) == STARTS
    assert {record["status"] for record in collector.chunk_metrics} == {"ok"}
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["num_failed_chunks"] == 0
    assert metrics["num_attempts"] == begun.total()
    assert metrics["num_retried_chunks"] == sum(n > 1 for n in begun.values())


def check_loss(collector, entry, killer):
    """The attempt that was killed, and results that went with its worker."""
    metrics = collector.get_metrics()
    (failure,) = collector.run.failures.rows()
    reported = [failure[name] for name in ("entry_start", "status", "resolved")]
    assert reported == [entry, "lost", True]
    assert failure["worker"] == killer.worker
    assert killer.lost_s <= failure["seconds"] <= metrics["wall_time"]
    assert metrics["num_lost_attempts"] == metrics["num_lost_workers"] == 1
    tasks = [task for task in collector.run.tasks.rows() if task["status"] == "repeat"]
    wasted = failure["seconds"] + sum(task["duration"] for task in tasks)
    assert metrics["wasted_thread_seconds"] == pytest.approx(wasted)
    (worker,) = metrics["lost_workers"]
    assert (worker["worker"], worker["pid"]) == (killer.worker, killer.pid)
    assert worker["seconds_lost"] == pytest.approx(wasted)
    assert len(worker["chunks"]) == 1


class Fatal(Plain):
    """Kills every worker that tries its last chunk."""

    def process(self, events: Any) -> Any:
        if events.metadata["entrystart"] == STARTS[-1]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().process(events)


def test_a_chunk_that_kills_its_workers_is_run_again_with_all(
    client, tiny_file, expected
):
    """Dask gives up: there is no result, and the rerun alone is the truth."""

    def allow(count, dask_scheduler=None):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, count
        return before

    client.wait_for_workers(2, timeout=120)
    before = client.run_on_scheduler(allow, 0)
    try:
        with (
            pytest.raises(Exception, match="KilledWorker"),
            MetricsCollector(client) as collector,
        ):
            dask_runner(client, CHUNKS)(fileset_of(tiny_file), Fatal())
    finally:
        client.run_on_scheduler(allow, before)
    items = collector.run.failed_items()
    assert [item.entrystart for item in items] == STARTS
    assert make_runner()(items, Plain()) == expected
