# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of users on a real Dask cluster: what a collector gives them."""

from __future__ import annotations

import threading

import dask
import pytest
from coffea import processor
from distributed import Client

import roastcoffea
from clusters import (
    Histograms,
    Received,
    collect,
    dask_runner,
    on_dask,
    shared_client,
    start_cluster,
)
from collector_helpers import CHUNKS, EVENTS, Measured, Plain, fileset_of, starts
from roastcoffea import MetricsCollector
from scheduler_client import surroundings
from scheduler_runs import workers_of
from support import KEY

STARTS = [EVENTS // CHUNKS * i for i in range(CHUNKS)]

client = pytest.fixture(scope="module")(shared_client)


@pytest.fixture(scope="module")
def expected(tiny_file):
    """What the analysis gives without us."""
    executor = processor.IterativeExecutor(status=False)
    runner = dask_runner(None, executor=executor)
    return runner(fileset_of(tiny_file), processor_instance=Plain())[0]


# ---- what users write ----------------------------------------------------------------


def test_a_script_of_a_user(client, tiny_file, expected):
    analysis = Measured()
    with MetricsCollector(client, processor_instance=analysis) as collector:
        output, report = dask_runner(client)(
            fileset_of(tiny_file), processor_instance=analysis
        )
        output = collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert output == expected
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == CHUNKS
    assert metrics["total_events"] == EVENTS
    assert starts(collector.chunk_metrics) == STARTS
    assert starts(analysis._chunk_metrics) == STARTS
    assert metrics["peak_workers"] == 2
    assert metrics["total_cores"] == pytest.approx(2)
    assert not collector.run.partial


def test_records_say_where_they_were_made(client, tiny_file):
    collector, _ = collect(client, tiny_file, Measured())
    workers = set(workers_of(client))
    for record in collector.chunk_metrics:
        assert record["status"] == "ok"
        assert record["timing"]["sum"] > 0
        assert record["ladder"]
        assert record["worker"] in workers


def test_chunks_are_measured_without_the_decorator(client, tiny_file, expected):
    collector, (output, _) = collect(client, tiny_file, Plain())
    metrics = collector.get_metrics()
    assert output == expected
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["total_events"] == EVENTS
    assert metrics["ladder_chunks"] == CHUNKS


def test_an_output_without_a_key_is_measured_too(client, tiny_file):
    plain = dask_runner(client)(fileset_of(tiny_file), processor_instance=Histograms())
    collector, (output, _) = collect(client, tiny_file, Histograms())
    assert output == plain[0]
    assert starts(collector.chunk_metrics) == STARTS
    assert all(record["duration"] > 0 for record in collector.chunk_metrics)


@pytest.mark.parametrize("what", ["executor", "runner", "nothing"])
def test_the_client_is_found(what, client, tiny_file):
    runner = dask_runner(client)
    given = {"executor": runner.executor, "runner": runner, "nothing": None}[what]
    with MetricsCollector(given) as collector:
        runner(fileset_of(tiny_file), processor_instance=Measured())
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["peak_workers"] == 2
    assert collector.span_metrics
    assert collector.run._notes.text("executor") == "Dask, 2 workers x 1 thread"


def test_monitor_needs_nothing(client, tiny_file, expected):
    with roastcoffea.monitor() as run:
        output, _ = dask_runner(client)(
            fileset_of(tiny_file), processor_instance=Measured()
        )
    assert run.get_metrics()["num_successful_chunks"] == CHUNKS
    assert {key: output[key] for key in expected} == expected
    assert KEY not in output  # the run has the records
    assert len(run.chunk_metrics) == CHUNKS
    assert "Dask, 2 workers x 1 thread" in str(run)


def test_a_run_in_another_thread_is_of_the_collector(client, tiny_file):
    runner = dask_runner(client)
    with MetricsCollector(client) as collector:
        thread = threading.Thread(
            target=runner, args=(fileset_of(tiny_file), Measured())
        )
        thread.start()
        thread.join()
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == CHUNKS
    assert ours(collector) >= CHUNKS
    assert seconds(collector, "Measured") > 0


def ours(collector):
    """How many tasks the scheduler saw that were sent from the block."""
    return sum(collector.run._core.tasks_seen()["ours"].values())


def seconds(collector, prefix):
    """What Dask's spans count as time of a prefix."""
    spans = collector.span_metrics
    names = ("thread-cpu", "thread-noncpu")
    return sum(spans.get(("execute", prefix, name, "seconds"), 0.0) for name in names)


def test_an_executor_without_a_client_makes_one(tiny_file, expected, monkeypatch):
    with dask.config.set({"distributed.dashboard.link": ""}):
        runner = dask_runner(None, executor=on_dask(None))
        with roastcoffea.monitor() as run:
            output, _ = runner(fileset_of(tiny_file), processor_instance=Measured())
    metrics = run.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert {key: output[key] for key in expected} == expected
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["peak_workers"] >= 1
    assert runner.executor.client is None
    assert type(runner.executor) is processor.DaskExecutor


# ---- several of them -----------------------------------------------------------------


def test_one_collector_after_another(client, tiny_file):
    before = surroundings(client)
    first, _ = collect(client, tiny_file, Measured())
    second, _ = collect(client, tiny_file, Measured())
    for collector in (first, second):
        assert starts(collector.chunk_metrics) == STARTS
    before.check()


def test_a_collector_is_used_again(client, tiny_file):
    runs = []
    collector = MetricsCollector(client)
    for _ in range(2):
        with collector:
            dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        runs.append(collector.run)
    assert [starts(run.chunk_metrics) for run in runs] == [STARTS, STARTS]
    assert runs[0].id != runs[1].id


def test_one_inside_another_sees_the_same(client, tiny_file):
    with MetricsCollector(client) as outer, MetricsCollector(client) as inner:
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
    for collector in (outer, inner):
        metrics = collector.get_metrics()
        assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
        assert starts(collector.chunk_metrics) == STARTS
        assert seconds(collector, "Measured") > 0


def test_two_threads_at_the_same_time_see_their_own(client, tiny_file):
    found = {}

    def work(name, analysis):
        with Client(client.scheduler.address, set_as_default=False) as own:
            found[name], _ = collect(own, tiny_file, analysis)

    first = threading.Thread(target=work, args=("first", Measured()))
    second = threading.Thread(target=work, args=("second", Histograms()))
    for thread in (first, second):
        thread.start()
    for thread in (first, second):
        thread.join()
    names = {"first": "Measured", "second": "Histograms"}
    for name, collector in found.items():
        assert starts(collector.chunk_metrics) == STARTS
        assert collector.run._notes.text("processor") == names[name]


def test_two_clusters_in_one_block(client, tiny_file):
    with start_cluster(1) as other, Client(other, set_as_default=False) as second:
        with roastcoffea.monitor() as run:
            for each in (client, second):
                runner = dask_runner(each)
                runner(fileset_of(tiny_file), processor_instance=Measured())
        assert len(run.chunk_metrics) == 2 * CHUNKS
    assert run.get_metrics()["monitor_errors"] == 0, run._notes.first_error
    assert len(run.tracking_data["worker_memory"]) == 3


def test_tasks_of_others_are_not_of_the_run(client, tiny_file, monkeypatch):
    received = Received(monkeypatch)
    with Client(client.scheduler.address, set_as_default=False) as other:
        stop = threading.Event()

        def disturb():
            while not stop.is_set():
                other.gather(other.map(abs, range(5), pure=False))

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            collector, _ = collect(client, tiny_file, Measured())
        finally:
            stop.set()
            thread.join()
    foreign = {task["prefix"] for task in received.tasks if not task["ours"]}
    assert foreign == {"abs"}
    assert "abs" not in {task["prefix"] for task in received.tasks if task["ours"]}
    assert not any("abs" in names for names in collector.span_metrics)
