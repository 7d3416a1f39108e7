# SPDX-License-Identifier: BSD-3-Clause
"""What a collector keeps of a run on Dask: series, spans, and every attempt once."""

from __future__ import annotations

import pytest
from coffea.processor import SimpleCheckpointer
from distributed import Client

import coffea_metrics
from clusters import (
    Stumbling,
    collect,
    dask_runner,
    on_dask,
    shared_client,
)
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    MeasuredFailing,
    fileset_of,
    starts,
)
from roastcoffea import MetricsCollector, track_metrics, track_time
from roastcoffea.backends.dask import DaskBackend, DaskMetricsBackend
from scheduler_runs import workers_of

SERIES = (
    "worker_memory",
    "worker_memory_limit",
    "worker_active_tasks",
    "worker_cores",
    "worker_nbytes",
    "worker_occupancy",
    "worker_executing",
    "worker_last_seen",
    "worker_cpu",
    "worker_managed_bytes",
    "worker_spilled_memory_bytes",
    "worker_spilled_disk_bytes",
    "worker_net_read_bps",
    "worker_net_write_bps",
    "worker_disk_read_bps",
    "worker_disk_write_bps",
    "worker_event_loop_interval",
)
STARTS = [EVENTS // CHUNKS * i for i in range(CHUNKS)]

client = pytest.fixture(scope="module")(shared_client)


@pytest.fixture(scope="module")
def expected(client, tiny_file):
    runner = dask_runner(client)
    return runner(fileset_of(tiny_file), processor_instance=Measured())[0]


# ---- tracking data and fine metrics --------------------------------------------------


def test_tracking_data_has_every_series(client, tiny_file):
    collector, _ = collect(client, tiny_file, Measured())
    tracking = collector.tracking_data
    workers = set(workers_of(client))
    assert set(tracking["worker_counts"].values()) == {2}
    for series in SERIES:
        assert set(tracking[series]) == workers, series
        for points in tracking[series].values():
            assert points == sorted(points)
    limits = {name: row["memory_limit"] for name, row in workers_of(client).items()}
    for worker, points in tracking["worker_memory_limit"].items():
        assert {value for _, value in points} == {limits[worker]}


def test_workers_are_not_sampled_if_tracking_is_off(client, tiny_file):
    collector, _ = collect(client, tiny_file, Measured(), track_workers=False)
    assert collector.tracking_data is None
    assert collector.get_metrics()["peak_workers"] == 2


def test_fine_metrics_are_complete(client, tiny_file):
    collector, _ = collect(client, tiny_file, Measured())
    metrics = collector.get_metrics()
    spans = collector.span_metrics
    assert {len(names) for names in spans} == {4}
    cpu = [value for names, value in spans.items() if "thread-cpu" in names]
    assert metrics["cpu_time_seconds"] == pytest.approx(sum(cpu))
    assert metrics["io_time_seconds"] > 0
    own = spans["execute", "Measured", "thread-cpu", "seconds"]
    assert metrics["overhead_cpu_time_seconds"] == pytest.approx(sum(cpu) - own)
    assert metrics["total_bytes_memory_read"] > 0
    total = metrics["processor_cpu_percentage"] + metrics["processor_noncpu_percentage"]
    assert total == pytest.approx(100)


# ---- exactly once --------------------------------------------------------------------


def test_retried_chunks_are_there_once_more(client, tiny_file, tmp_path, expected):
    analysis = Stumbling(tmp_path, {1000, 2000})
    collector, (output, _) = collect(client, tiny_file, analysis)
    output = collector.extract_metrics_from_output(output)
    assert output == expected
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["num_retried_chunks"] == 2
    records = collector.chunk_metrics
    ok = [record for record in records if record["status"] == "ok"]
    failed = [record for record in records if record["status"] == "failed"]
    assert starts(ok) == STARTS
    assert starts(failed) == [1000, 2000]
    assert all("the first time" in record["error"] for record in failed)
    assert all(record["worker"] for record in failed)
    assert metrics["wasted_thread_seconds"] > 0
    read = [r["bytes_read"] + r["bytes_before_process"] for r in failed]
    assert metrics["wasted_bytes"] == sum(read) > 0


def test_a_chunk_that_always_fails(client, tiny_file):
    failing = MeasuredFailing(ValueError("no luck"))
    runner = dask_runner(client, executor=on_dask(client, retries=2))
    collector = MetricsCollector(client)
    with pytest.raises(Exception, match="no luck"), collector:
        runner(fileset_of(tiny_file), processor_instance=failing)
    failed = [r for r in collector.chunk_metrics if r["status"] == "failed"]
    assert starts(failed) == [1000] * 3
    assert sorted(record["attempt"] for record in failed) == [1, 2, 3]
    for record in failed:
        assert "ValueError: no luck" in record["error"]
        assert record["worker"] in workers_of(client)
        assert record["timing"]["selection"] >= 0
    ends = collector.run._core.tasks_seen()["ours"]
    assert (ends["retried"], ends["failed"]) == (2, 1)
    assert "no luck" in collector.run.failure
    assert collector.run.partial
    assert list(collector.run.failed_fileset()) == ["ttbar"]
    assert sorted(i.entrystart for i in collector.run.failed_items()) == STARTS


class Unmergeable:
    def __add__(self, other):
        raise ValueError("no sum")


class WithoutSum(Measured):
    @track_metrics
    def process(self, events):
        with track_time(self, "selection"):
            return {"n": Unmergeable()}


def test_a_run_without_output_keeps_its_chunk_records(client, tiny_file):
    """Records travel with results, and these came to nothing."""
    collector = MetricsCollector(client)
    with pytest.raises(Exception, match="no sum"), collector:
        dask_runner(client)(fileset_of(tiny_file), processor_instance=WithoutSum())
    records = collector.chunk_metrics
    assert starts(records) == STARTS
    assert all(record["timing"]["selection"] >= 0 for record in records)
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["total_cpu_time"] > 0
    assert metrics["losses"] == {}


def test_a_file_whose_entries_cannot_be_read_is_no_chunk(client, tiny_file, tmp_path):
    """Its task has the name of the wrapper around all reads of entries."""
    fileset = fileset_of(tiny_file)
    fileset["ttbar"]["files"][str(tmp_path / "gone.root")] = "Events"
    with MetricsCollector(client) as collector:
        dask_runner(client, skipbadfiles=True)(fileset, processor_instance=Measured())
    kinds = collector.get_metrics()["tasks_by_kind"]
    assert kinds["chunk"]["count"] == CHUNKS
    assert kinds["preprocess"]["count"] >= 1  # the other's answer may be known


def test_records_of_a_checkpoint_are_of_another_run(client, tiny_file, tmp_path):
    checkpointer = SimpleCheckpointer(str(tmp_path), verbose=False)
    runner = dask_runner(client, checkpointer=checkpointer)
    runs = []
    for _ in range(2):
        with MetricsCollector(client) as collector:
            runner(fileset_of(tiny_file), processor_instance=Measured())
        runs.append(collector)
    assert starts(runs[0].chunk_metrics) == STARTS
    assert runs[1].chunk_metrics == []
    assert runs[1].get_metrics()["total_events"] == EVENTS


# ---- without a Runner ----------------------------------------------------------------


def test_plain_work_on_dask(client):
    with MetricsCollector(client) as collector:
        assert client.gather(client.map(abs, range(-5, 0), pure=False))[0] == 5
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["peak_workers"] == 2
    assert collector.run._core.tasks_seen()["ours"] == {"ok": 5}
    assert any("abs" in names for names in collector.span_metrics)
    assert "Runner" in metrics["unavailable"]["num_chunks"]
    assert not metrics["remarks"]
    assert collector.run._page("text").count("no coffea chunks") == 1


# ---- the backend alone ---------------------------------------------------------------


def test_the_backend_gives_what_the_documents_say(client):
    assert DaskBackend is DaskMetricsBackend is coffea_metrics.DaskBackend
    backend = DaskBackend(client)
    backend.start_tracking(0.1)
    info = backend.create_span("mine")
    with info["context"]:
        client.gather(client.map(abs, range(5), pure=False))
    spans = backend.get_span_metrics(info, max_retries=5, retry_delay=0.3)
    assert spans["execute", "abs", "thread-noncpu", "seconds"] >= 0
    assert backend.get_span_metrics({"id": info["id"]}, delay=0.1) == spans
    tracking = backend.stop_tracking()
    assert set(tracking["worker_counts"].values()) == {2}
    assert backend.supports_fine_metrics()


def test_clients_that_cannot_be_used_are_refused():
    with pytest.raises(ValueError, match="client cannot be None"):
        DaskMetricsBackend(None)

    class Asynchronous(Client):
        def __init__(self):
            pass

        asynchronous = True

        def __del__(self):
            pass

    with pytest.raises(ValueError, match="needs a synchronous Client"):
        MetricsCollector(Asynchronous())


@pytest.mark.parametrize("given", ["tcp://127.0.0.1:8786", 42])
def test_what_is_no_client_is_refused(given):
    with pytest.raises(TypeError, match=r"takes a Dask client.*Client\(address\)"):
        MetricsCollector(given)
