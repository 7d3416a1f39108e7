# SPDX-License-Identifier: BSD-3-Clause
"""The number of workers over time, on a cluster that has none at first."""

from __future__ import annotations

import pytest
from distributed import Client

from clusters import dask_runner, start_cluster
from collector_helpers import Measured, fileset_of
from roastcoffea import MetricsCollector
from test_promises import trapezoid


@pytest.fixture(scope="module")
def scaled(tiny_file):
    """A run that began without workers and ended with two."""
    with start_cluster(workers=0) as cluster, Client(cluster) as client:
        collector = MetricsCollector(client, worker_tracking_interval=0.01)
        with collector:
            cluster.scale(2)
            client.wait_for_workers(2)
            dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        span_metrics = collector.backend.get_span_metrics(collector.span_info)
        by_id = collector.backend.get_span_metrics(span_id=collector.span_info["id"])
    return collector, span_metrics, by_id


def counts_of(collector):
    return collector.tracking_data["worker_counts"]


def test_no_workers_are_samples_of_0(scaled):
    collector, *_ = scaled
    counts = list(counts_of(collector).values())
    assert counts[:10] == [0] * 10  # a worker starts Python: that takes longer
    assert (min(counts), max(counts), counts[-1]) == (0, 2, 2)
    metrics = collector.get_metrics()
    assert 0 < metrics["avg_workers_simple"] < 2


def test_the_trapezoid_is_the_average(scaled):
    collector, *_ = scaled
    average = collector.get_metrics()["time_avg_workers"]
    assert 0 < average < 2
    assert trapezoid(counts_of(collector)) == pytest.approx(average, rel=0.02)


def test_memory_in_percent_is_a_series(scaled):
    tracking = scaled[0].tracking_data
    for worker, points in tracking["worker_memory_percent"].items():
        memory = dict(tracking["worker_memory"][worker])
        limit = dict(tracking["worker_memory_limit"][worker])
        assert points
        for time, percent in points:
            assert percent == pytest.approx(100 * memory[time] / limit[time], abs=1e-2)


def test_memory_without_results_is_a_series(scaled):
    collector, *_ = scaled
    tracking = collector.tracking_data
    for worker, points in tracking["worker_unmanaged_bytes"].items():
        names = ("memory", "nbytes", "spilled_memory_bytes")
        known = [dict(tracking[f"worker_{name}"][worker]) for name in names]
        assert points
        for time, unmanaged in points:
            memory, nbytes, spilled = (values[time] for values in known)
            assert unmanaged == max(0, memory - max(0, nbytes - spilled))
    metrics = collector.get_metrics()
    highest = metrics["unmanaged_memory_max_bytes"]
    assert 0 < metrics["unmanaged_memory_avg_bytes"] <= highest
    assert highest <= metrics["peak_memory_bytes"]


def test_the_span_can_be_read_again(scaled):
    collector, spans, by_id = scaled
    assert collector.span_info["name"] == "coffea-processing"
    assert spans == by_id
    assert any(names[2] == "thread-cpu" for names in spans)
