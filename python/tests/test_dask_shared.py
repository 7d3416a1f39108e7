# SPDX-License-Identifier: BSD-3-Clause
"""Several workers of Dask in one process: they are several workers everywhere."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from distributed import get_worker

from clusters import dask_runner, open_client
from collector_helpers import EVENTS, Measured, fileset_of
from roastcoffea import MetricsCollector, open_run, track_metrics
from scheduler_runs import workers_of

CHUNKS = 6
DEADLINE_S = 60

places: dict[int, str] = {}  # where each chunk was, in this process
both_work = threading.Event()


class Meeting(Measured):
    """Each chunk waits until both workers have one."""

    @track_metrics
    def process(self, events):
        places[events.metadata["entrystart"]] = get_worker().address
        if len(set(places.values())) == 2:
            both_work.set()
        both_work.wait(DEADLINE_S)
        return {"n": len(events)}


@pytest.fixture(scope="module")
def collected(tiny_file, tmp_path_factory):
    """A collector on two workers in this process, and their addresses."""
    folder = tmp_path_factory.mktemp("shared")
    for client in open_client(processes=False):
        with MetricsCollector(client, output_dir=folder) as collector:
            dask_runner(client, chunks=CHUNKS)(
                fileset_of(tiny_file), processor_instance=Meeting()
            )
        yield collector, set(workers_of(client)), folder


def test_both_workers_are_distinguished(collected):
    collector, workers, _ = collected
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    counts = Counter(places.values())
    assert set(counts) == workers
    rows = metrics["per_worker"]
    assert {name: row["num_chunks"] for name, row in rows.items()} == counts
    assert metrics["processes_seen"] == 2
    assert metrics["peak_workers"] == 2
    table = collector.run.workers.to_dict()
    assert dict(zip(table["worker"], table["num_chunks"], strict=True)) == counts


def test_chunks_and_tasks_have_their_worker(collected):
    collector, _, _ = collected
    chunks = collector.run.chunks.to_dict()
    assert dict(zip(chunks["entry_start"], chunks["worker"], strict=True)) == places
    tasks = collector.run.tasks.rows()
    attempts = [row for row in tasks if row["kind"] == "chunk"]
    assert {row["entry_start"]: row["worker"] for row in attempts} == places
    assert len(attempts) == CHUNKS
    assert all(row["prefix"] == "Meeting" for row in attempts)
    counted = collector.get_metrics()["tasks_by_kind"]
    assert counted["chunk"]["count"] == CHUNKS


def test_a_saved_run_distinguishes_them(collected):
    collector, _, folder = collected
    (file,) = folder.rglob("*.roast")
    again = open_run(file)
    assert again.metrics["per_worker"] == collector.get_metrics()["per_worker"]
    for name in ("chunks", "tasks", "workers"):
        assert getattr(again, name).rows() == getattr(collector.run, name).rows(), name
    assert again.metrics["total_events"] == EVENTS
