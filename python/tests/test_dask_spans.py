# SPDX-License-Identifier: BSD-3-Clause
"""Dask's own seconds against those of our records and of the scheduler's tasks.

Spans are complete when a block ends, because workers send a last heartbeat: no test
here waits for one.
"""

from __future__ import annotations

import pytest

from clusters import Received, dask_runner, shared_client
from collector_helpers import CHUNKS, Measured, fileset_of
from roastcoffea import MetricsCollector

client = pytest.fixture(scope="module")(shared_client)


@pytest.fixture
def received(monkeypatch):
    return Received(monkeypatch)


def collect(client, tiny_file):
    with MetricsCollector(client) as collector:
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    return collector


def span_seconds(collector, *activities):
    """Seconds of the processor's tasks, as Dask's spans count them."""
    spans = collector.span_metrics
    return sum(
        value
        for (context, prefix, activity, unit), value in spans.items()
        if (context, prefix, unit) == ("execute", "Measured", "seconds")
        and activity in activities
    )


def task_seconds(received):
    """The same, by the starts and stops that the scheduler has."""
    named = [task for task in received.tasks if task["prefix"] == "Measured"]
    chunks = [task for task in named if task["end"] != "moved"]  # to another worker
    received.tasks.clear()
    assert len(chunks) == CHUNKS
    return sum(task["stop"] - task["start"] for task in chunks)


def check(collector, received):
    """Two clocks over the same intervals: Dask's tasks, and its spans."""
    tasks = task_seconds(received)
    spans = span_seconds(collector, "thread-cpu", "thread-noncpu")
    assert spans == pytest.approx(tasks, rel=0.01, abs=0.005)
    ours = sum(record["duration"] for record in collector.chunk_metrics)
    assert 0 < ours <= tasks
    cpu = sum(record["cpu_time"] for record in collector.chunk_metrics)
    assert 0 < cpu <= span_seconds(collector, "thread-cpu")


@pytest.mark.parametrize("time", range(3))
def test_spans_are_complete_when_the_block_ends(client, tiny_file, received, time):
    check(collect(client, tiny_file), received)


@pytest.mark.long
def test_spans_are_complete_every_time(client, tiny_file, received):
    for _ in range(20):
        check(collect(client, tiny_file), received)


def test_a_name_used_again_while_results_are_kept(client, received):
    """Dask gives the group to the span that had it first; its tasks are ours."""
    kept = client.map(abs, range(3))
    client.gather(kept)
    with MetricsCollector(client):
        client.gather(client.map(abs, range(3, 8)))
    found = [(task["prefix"], task["ours"]) for task in received.tasks]
    assert found == [("abs", True)] * 5
    del kept
