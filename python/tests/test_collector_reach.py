# SPDX-License-Identifier: BSD-3-Clause
"""A block around an unchanged analysis measures it, on every local executor; the
decorator and coffea's report each add detail."""

from __future__ import annotations

import math

import pytest
from coffea import processor

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    Plain,
    fileset_of,
    iterative,
    make_runner,
    starts,
    threads,
)
from support import KEY

EXECUTORS = {
    "iterative": lambda: iterative(retries=0),
    "threads": lambda: threads(retries=0),
    "processes": lambda: processor.FuturesExecutor(workers=2, status=False),
}
WORKERS = {"iterative": 1, "threads": 2, "processes": 2}
OUTPUT = {"n", "sum"}


class Block:
    """One run in a block, and what it gave."""

    def __init__(self, executor, analysis, path, **options):
        self.executor = executor
        self.analysis = analysis
        runner = make_runner(EXECUTORS[executor](), **options)
        with roastcoffea.MetricsCollector(
            worker_tracking_interval=0.05
        ) as self.collector:
            result = runner(fileset_of(path), processor_instance=analysis)
        self.output, self.report = result if runner.savemetrics else (result, None)
        self.metrics = self.collector.get_metrics()


@pytest.fixture(scope="module", params=EXECUTORS)
def unchanged(request, tiny_file):
    """No decorator, no report, nothing passed."""
    return Block(request.param, Plain(), tiny_file)


@pytest.fixture(scope="module", params=EXECUTORS)
def detailed(request, tiny_file):
    """Decorated, with savemetrics; still nothing passed."""
    return Block(request.param, Measured(), tiny_file, savemetrics=True)


# ---- an analysis without roastcoffea in it --------------------------------------


def test_output_of_an_unchanged_analysis_is_its_own(unchanged):
    assert set(unchanged.output) == OUTPUT
    assert unchanged.output["n"] == EVENTS
    assert vars(unchanged.analysis) == {}


def test_unchanged_analysis_has_wall_time_and_events(unchanged):
    metrics, collector = unchanged.metrics, unchanged.collector
    assert metrics["wall_time"] == metrics["elapsed_time_seconds"] > 0
    elapsed = collector.t_end - collector.t_start
    assert elapsed == pytest.approx(metrics["wall_time"], abs=1e-6)
    assert metrics["total_events"] == EVENTS
    assert metrics["event_rate_wall_khz"] > 0
    assert metrics["partial"] is False


def test_unchanged_analysis_has_its_chunks_counted(unchanged):
    metrics = unchanged.metrics
    names = ("num_chunks", "num_successful_chunks", "num_attempts")
    assert [metrics[name] for name in names] == [CHUNKS] * 3
    assert metrics["num_failed_chunks"] == metrics["num_lost_attempts"] == 0
    assert metrics["failures"] == []
    assert metrics["runner_calls"] == 1


def test_chunks_of_an_unchanged_analysis_have_names(unchanged, tiny_file):
    assert set(unchanged.metrics["per_dataset"]) == {"ttbar"}
    assert set(unchanged.metrics["per_file"]) == {str(tiny_file)}


def test_unchanged_analysis_has_workers_and_memory(unchanged):
    metrics = unchanged.metrics
    workers = WORKERS[unchanged.executor]
    assert metrics["peak_workers"] == metrics["time_avg_workers"] == workers
    assert metrics["total_cores"] == workers
    assert metrics["peak_memory_bytes"] > 2**20
    assert metrics["avg_memory_per_worker_bytes"] > 2**20
    assert metrics["tree_cpu_seconds"] > 0


def test_chunks_of_an_unchanged_analysis_have_records(unchanged):
    records = unchanged.collector.chunk_metrics
    assert starts(records) == [0, 1000, 2000]
    assert all(record["undecorated"] for record in records)
    assert sum(record["num_events"] for record in records) == EVENTS
    metrics = unchanged.metrics
    assert metrics["chunk_duration_mean"] > 0
    bytes_read = [r["bytes_before_process"] + r["bytes_read"] for r in records]
    assert metrics["total_bytes_read"] == sum(bytes_read) > 0


class SwitchedOff(Plain):
    """The user wants no chunks of it measured."""

    _roastcoffea_collect_metrics = False


@pytest.fixture(scope="module", params=EXECUTORS)
def unreported(request, tiny_file):
    return Block(request.param, SwitchedOff(), tiny_file)


@pytest.mark.parametrize("name", ["total_bytes_read", "chunk_duration_mean"])
def test_unknown_values_have_a_reason(unreported, name):
    assert name not in unreported.metrics
    assert unreported.metrics["unavailable"][name]


def test_what_documents_index_is_there_as_nan_with_a_reason(unreported):
    assert math.isnan(unreported.metrics["total_bytes_read_coffea"])
    assert unreported.metrics["unavailable"]["total_bytes_read_coffea"]


def test_whole_chunks_have_a_clock_without_a_decorator_too(unreported):
    metrics = unreported.metrics
    assert 0 < metrics["processor_cpu_time_seconds"] <= metrics["tree_cpu_seconds"]


def test_unchanged_analysis_leaves_no_error_of_ours(unchanged):
    assert unchanged.metrics["monitor_first_error"] == ""
    assert unchanged.metrics["losses"] == {}
    assert unchanged.metrics.get("monitor_errors", 0) == 0


def test_summary_of_an_unchanged_analysis_names_it(unchanged, capsys):
    unchanged.collector.print_summary()
    page = capsys.readouterr().out
    assert "Plain" in page
    assert "FINISHED" in page
    assert f"{EVENTS} events" in page
    assert f"{CHUNKS}/{CHUNKS} chunks" in page
    assert str(unchanged.collector) in page


# ---- with the decorator and coffea's report ----------------------------------------


def test_decorated_chunks_arrive_once_each(detailed):
    records = detailed.collector.chunk_metrics
    assert type(records) is list
    assert {type(record) for record in records} == {dict}
    assert starts(records) == [0, 1000, 2000]
    assert [record["chunk_id"] for record in records] == [0, 1, 2]
    assert {record["attempt"] for record in records} == {1}
    assert {record["dataset"] for record in records} == {"ttbar"}
    assert detailed.metrics["num_chunks_processed"] == CHUNKS


def test_records_are_in_the_output_and_on_the_processor(detailed):
    assert set(detailed.output) == {*OUTPUT, KEY}
    assert starts(detailed.output[KEY]) == [0, 1000, 2000]
    assert starts(detailed.analysis._chunk_metrics) == [0, 1000, 2000]


def test_sections_of_decorated_chunks_are_counted(detailed):
    section = detailed.metrics["sections"]["sum"]
    assert section["count"] == CHUNKS
    times = [record["timing"]["sum"] for record in detailed.collector.chunk_metrics]
    assert section["total"] == pytest.approx(sum(times))
    durations = (record["duration"] for record in detailed.collector.chunk_metrics)
    assert sum(times) <= sum(durations)


def test_report_is_taken_without_being_passed(detailed):
    metrics, report = detailed.metrics, detailed.report
    assert metrics["total_events"] == report["entries"] == EVENTS
    assert metrics["total_bytes_read"] == report["bytesread"]
    assert metrics["total_bytes_read_coffea"] == report["bytesread"]
    assert metrics["total_cpu_time"] == report["processtime"]
    assert metrics["num_chunks"] == report["chunks"] == CHUNKS


def test_handing_it_over_as_well_changes_nothing(detailed):
    before = dict(detailed.metrics)
    detailed.collector.set_coffea_report(detailed.report)
    detailed.collector.set_chunk_metrics(detailed.analysis._chunk_metrics)
    detailed.collector.extract_metrics_from_output(dict(detailed.output))
    assert dict(detailed.collector.get_metrics()) == before
    assert len(detailed.collector.chunk_metrics) == CHUNKS


def test_workers_are_those_that_ran_the_chunks(detailed):
    pids = {f"pid-{record['pid']}" for record in detailed.collector.chunk_metrics}
    assert pids == set(detailed.metrics["per_worker"])
    assert len(pids) <= WORKERS[detailed.executor]


def test_decorated_run_leaves_no_error_of_ours(detailed):
    assert detailed.metrics["monitor_errors"] == 0
    assert detailed.metrics["monitor_first_error"] == ""
    assert detailed.metrics["losses"] == {}


# ---- other ways to run -------------------------------------------------------------


def test_two_runs_in_one_block_add_up(tiny_file):
    runner = make_runner(savemetrics=True)
    with roastcoffea.MetricsCollector() as collector:
        reports = [
            runner(fileset_of(tiny_file), processor_instance=Measured())[1]
            for _ in range(2)
        ]
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 2 * EVENTS
    assert metrics["total_bytes_read"] == sum(r["bytesread"] for r in reports)
    assert metrics["runner_calls"] == 2
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == 2 * CHUNKS
    assert metrics["num_retried_chunks"] == 0
    assert len(collector.chunk_metrics) == 2 * CHUNKS


def test_chunk_of_a_second_run_is_not_a_second_attempt(tiny_file):
    with roastcoffea.MetricsCollector() as collector:
        for _ in range(2):
            make_runner()(fileset_of(tiny_file), processor_instance=Measured())
    assert {record["attempt"] for record in collector.chunk_metrics} == {1}


def test_groups_of_an_unchanged_analysis_count_its_chunks(unchanged, tiny_file):
    assert unchanged.metrics["per_file"][str(tiny_file)]["num_chunks"] == CHUNKS


def test_chunks_made_beforehand_are_measured(tiny_file):
    runner = make_runner()
    chunks = list(runner.preprocess(fileset_of(tiny_file)))
    with roastcoffea.MetricsCollector() as collector:
        runner.run(chunks, Plain())
        runner.run(iter_of(chunks), processor_instance=Measured())
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 2 * EVENTS
    assert metrics["per_file"].keys() == {str(tiny_file)}
    assert starts(collector.chunk_metrics) == [0, 0, 1000, 1000, 2000, 2000]


def iter_of(chunks):
    yield from chunks


def test_fileset_in_a_file_is_measured_with_names(tiny_file, tmp_path):
    import json

    path = tmp_path / "fileset.json"
    path.write_text(json.dumps(fileset_of(tiny_file)))
    with roastcoffea.MetricsCollector() as collector:
        make_runner()(str(path), processor_instance=Plain())
    assert set(collector.get_metrics()["per_file"]) == {str(tiny_file)}


def test_block_without_a_run_reports_why_it_is_empty(capsys):
    with roastcoffea.MetricsCollector() as collector:
        pass
    metrics = collector.get_metrics()
    assert metrics["wall_time"] > 0
    assert "total_events" not in metrics
    assert metrics["unavailable"]["total_events"]
    assert collector.chunk_metrics == []
    collector.print_summary()
    assert "FINISHED" in capsys.readouterr().out
