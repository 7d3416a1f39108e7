# SPDX-License-Identifier: BSD-3-Clause
"""The metrics of a run on a real cluster: fine metrics, lost workers
and what they held, tasks by kind, hot lines, and the page."""

from __future__ import annotations

import math

import pytest

from clusters import (
    Dying,
    Stumbling,
    await_until,
    collect,
    dask_runner,
    open_client,
)
from collector_helpers import CHUNKS, Measured, fileset_of
from memory_hog import Greedy
from roastcoffea import MetricsCollector, open_run
from scheduler_runs import workers_of

client = pytest.fixture(scope="module")(open_client)


def counted(spans, activity, prefix=None, unit="seconds"):
    """What spans say of an activity, in all contexts, for one prefix or for all."""
    return sum(
        value
        for names, value in spans.items()
        if names[-2:] == (activity, unit) and prefix in (None, names[1])
    )


# ---- fine metrics --------------------------------------------------------------------


def test_the_processor_is_distinguished_from_other_tasks(client, tiny_file):
    collector, _ = collect(client, tiny_file, Measured())
    metrics, spans = collector.get_metrics(), collector.span_metrics
    own_cpu = counted(spans, "thread-cpu", "Measured")
    own_wait = counted(spans, "thread-noncpu", "Measured")
    all_wait = counted(spans, "thread-noncpu")
    assert metrics["processor_cpu_time_seconds"] == pytest.approx(own_cpu)
    assert metrics["processor_noncpu_time_seconds"] == pytest.approx(own_wait)
    assert metrics["io_time_seconds"] == pytest.approx(all_wait)
    overhead = metrics["overhead_noncpu_time_seconds"]
    assert overhead == pytest.approx(all_wait - own_wait)
    assert metrics["overhead_io_wait_time_seconds"] == overhead
    assert metrics["failed_time_seconds"] == 0
    assert metrics["executor_time_seconds"] == counted(spans, "executor")
    read = counted(spans, "memory-read", unit="bytes")
    assert metrics["total_bytes_memory_read_dask"] == read > 0
    assert metrics["serialization_time_seconds"] > 0
    chunk_cpu = sum(collector.run.chunks["task_cpu_time"])
    assert metrics["dask_cpu_ratio"] == pytest.approx(chunk_cpu / own_cpu)
    assert metrics["tasks_by_kind"]["chunk"]["prefixes"] == ["Measured"]


def test_failed_attempts_are_overhead(client, tiny_file, tmp_path):
    collector, _ = collect(client, tiny_file, Stumbling(tmp_path, {1000}))
    metrics, spans = collector.get_metrics(), collector.span_metrics
    failed = counted(spans, "failed")
    assert metrics["failed_time_seconds"] == pytest.approx(failed)
    assert failed > 0
    others = counted(spans, "thread-noncpu") - counted(
        spans, "thread-noncpu", "Stumbling"
    )
    overhead = metrics["overhead_noncpu_time_seconds"]
    assert overhead == pytest.approx(others + failed)


def test_a_name_that_another_span_has_first(client, tiny_file):
    """Then our own clocks are used, and what they do not measure is missing."""

    def other(number):
        return number

    other.__name__ = "Measured"
    kept = client.map(other, range(2))
    client.gather(kept)
    collector, _ = collect(client, tiny_file, Measured())
    metrics = collector.get_metrics()
    assert not counted(collector.span_metrics, "thread-cpu", "Measured")
    assert metrics["processor_cpu_time_seconds"] == metrics["cpu_time_seconds"] > 0
    tasks = metrics["cpu_time_seconds"] + metrics["io_time_seconds"]
    assert tasks == pytest.approx(metrics["task_seconds"])
    assert "an earlier span" in metrics["unavailable"]["overhead_cpu_time_seconds"]
    assert "overhead_cpu_time_seconds" not in metrics
    assert "Fine Metrics (own clocks)" in collector.run._repr_html_()
    del kept


def test_tasks_that_are_no_chunks(client, capsys):
    with MetricsCollector(client) as collector:
        client.gather(client.map(abs, range(5)))
    metrics = collector.get_metrics()
    assert metrics["tasks_by_kind"]["other"]["count"] == 5
    assert metrics["cpu_time_seconds"] > 0
    assert math.isnan(metrics["processor_cpu_time_seconds"])
    collector.print_summary()
    assert "5 tasks, no coffea chunks" in capsys.readouterr().out


def test_lambdas_of_the_user_do_not_send_the_processor(client, tiny_file):
    """coffea sends it as the result of one, too."""
    with MetricsCollector(client) as collector:
        client.gather(client.map(lambda x: x + 1, range(3)))
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        client.gather(client.map(lambda x: x + 2, range(4)))
    kinds = collector.get_metrics()["tasks_by_kind"]
    assert kinds["other"]["prefixes"] == ["lambda"]
    assert kinds["other"]["count"] == 7
    assert kinds["broadcast"]["count"] == 1


# ---- workers -------------------------------------------------------------------------


def test_only_workers_of_the_cluster_are_sampled(client, tiny_file):
    collector, _ = collect(client, tiny_file, Measured())
    metrics = collector.get_metrics()
    assert set(metrics["per_worker"]) <= set(workers_of(client))
    assert metrics["processes_seen"] == 2
    assert (metrics["time_avg_workers"], metrics["total_cores"]) == (2, 2)
    offered = 2 * metrics["wall_time"]
    assert metrics["offered_thread_seconds"] == pytest.approx(offered)
    assert (metrics["lost_workers"], metrics["num_lost_workers"]) == ([], 0)


def test_a_killed_worker_and_what_it_held(client, tiny_file, tmp_path, capsys):
    before = set(workers_of(client))
    with MetricsCollector(client) as collector:
        dask_runner(client)(
            fileset_of(tiny_file), processor_instance=Dying(tmp_path, {1000})
        )
    client.wait_for_workers(2, timeout=120)
    metrics = collector.get_metrics()
    (lost,) = metrics["lost_workers"]
    assert metrics["num_lost_workers"] == 1
    assert lost["worker"] in before
    assert lost["ended"] == "unknown"  # the scheduler has no reason
    assert lost["host"] == "127.0.0.1"
    assert 0 < lost["memory_bytes"] < lost["memory_limit_bytes"]
    assert lost["chunks"] == [f"ttbar {tiny_file} 1000-2000"]
    assert lost["seconds_lost"] > 0.2  # it slept for so long
    assert lost["attempts"] >= 1
    assert metrics["num_lost_attempts"] == 1
    assert metrics["num_retried_chunks"] >= 1
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["wasted_thread_seconds"] >= lost["seconds_lost"]
    assert metrics["time_avg_workers"] < 2
    (failure,) = [row for row in metrics["failures"] if row["status"] == "lost"]
    assert (failure["worker"], failure["resolved"]) == (lost["worker"], True)
    collector.print_summary(full=True)
    page = capsys.readouterr().out
    assert "LOST WORKERS" in page
    assert "1 worker lost" in page


def test_a_worker_that_takes_too_much_memory(tiny_file, tmp_path):
    limit = 600_000_000
    greedy = Greedy(tmp_path, 1000, limit)
    for client in open_client(memory_limit=limit):
        with MetricsCollector(client) as collector:
            dask_runner(client)(fileset_of(tiny_file), processor_instance=greedy)
    metrics = collector.get_metrics()
    (lost,) = metrics["lost_workers"]
    assert lost["ended"] == "killed for memory"
    assert "MB resident" in lost["reason"]
    assert lost["memory_limit_bytes"] == limit
    assert lost["chunks"] == [f"ttbar {tiny_file} 1000-2000"]
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["memory_utilization_max_percent"] > 0


# ---- saved ---------------------------------------------------------------------------


def test_a_saved_run_shows_the_same(client, tiny_file, tmp_path):
    collector, _ = collect(client, tiny_file, Measured(), output_dir=tmp_path)
    metrics = collector.get_metrics()
    peaks = [worker["peak_memory_mb"] for worker in metrics["per_worker"].values()]
    assert metrics["peak_memory_bytes"] == max(peaks) * 2**20
    assert metrics["peak_memory_bytes"] >= metrics["chunk_mem_peak_max_mb"] * 2**20
    (file,) = tmp_path.rglob("*.roast")
    again = open_run(file).metrics
    for name in ("tasks_by_kind", "hot_lines", "lost_workers", "dask_cpu_ratio"):
        assert again[name] == metrics[name], name
    for name in ("overhead_cpu_time_seconds", "total_bytes_memory_read"):
        assert again[name] == metrics[name], name


# ---- what harms the cluster comes last ----------------------------------------------


def forget_profiles(dask_worker):
    del dask_worker.profile_keys_history


def test_a_profile_that_cannot_be_read_is_reported(client, tiny_file):
    client.run(forget_profiles)
    collector, _ = collect(client, tiny_file, Measured())
    (remark,) = collector.get_metrics()["remarks"]
    assert remark.startswith("hot lines: 2 worker(s), the first: AttributeError")
    assert collector.get_metrics()["num_successful_chunks"] == CHUNKS


def test_a_worker_that_retires_is_not_lost(client, tiny_file):
    with MetricsCollector(client) as collector:
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        address = sorted(workers_of(client))[0]
        client.retire_workers([address])
        await_until(lambda: address not in workers_of(client))
    metrics = collector.get_metrics()
    assert (metrics["lost_workers"], metrics["num_lost_workers"]) == ([], 0)
    assert metrics["time_avg_workers"] < 2
