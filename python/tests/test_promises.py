# SPDX-License-Identifier: BSD-3-Clause
"""What the documents promise, and the names that scripts for 0.1.2 use."""

from __future__ import annotations

import inspect
import itertools
import statistics

import pytest
import uproot
from coffea.processor import accumulate, dict_accumulator

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    fileset_of,
    iterative,
    make_runner,
    starts,
    threads,
)
from roastcoffea.aggregation import branch_coverage, chunk, fine_metrics
from roastcoffea.export import reporter
from support import KEY, Events, make_processor, waiting


@pytest.fixture(scope="module")
def passed(tiny_file):
    """A collector after a run of three chunks, and the output."""
    executor = iterative()
    with roastcoffea.MetricsCollector(
        executor, processor_instance=Measured()
    ) as collector:
        output, _ = make_runner(executor, savemetrics=True)(
            fileset_of(tiny_file), processor_instance=collector.processor_instance
        )
    return collector, output


# ---- the output ----------------------------------------------------------------------


@pytest.mark.parametrize("executor", [iterative, threads])
def test_monitor_leaves_no_key_in_the_output(executor, tiny_file):
    analysis = Measured()
    with roastcoffea.monitor() as run:
        output = make_runner(executor())(
            fileset_of(tiny_file), processor_instance=analysis
        )
    assert set(output) == {"n", "sum"}
    assert starts(run.chunk_metrics) == starts(analysis._chunk_metrics)
    assert starts(run.chunk_metrics) == [0, 1000, 2000]


def test_a_collector_keeps_it_also_inside_of_monitor(tiny_file):
    executor = iterative()
    with roastcoffea.MetricsCollector(executor) as outer, roastcoffea.monitor():
        output = make_runner(executor)(
            fileset_of(tiny_file), processor_instance=Measured()
        )
    assert starts(output[KEY]) == [0, 1000, 2000]
    assert set(outer.extract_metrics_from_output(output)) == {"n", "sum"}


def test_outputs_of_two_monitored_calls_add_up(tiny_file):
    with roastcoffea.monitor():
        outputs = [
            make_runner()(fileset_of(tiny_file), processor_instance=Measured())
            for _ in range(2)
        ]
    assert accumulate(outputs)["n"] == 2 * EVENTS


# ---- decorated functions that are called directly ------------------------------------


@pytest.mark.parametrize("output", [None, dict_accumulator({"n": 1}), (1, 2), "text"])
def test_records_that_an_output_cannot_carry_reach_the_block(output):
    analysis = make_processor(lambda *_: output)
    analysis.process(Events())  # before the block: of no run
    with roastcoffea.MetricsCollector(None) as collector:
        assert analysis.process(Events(7)) is output
        assert [c["num_events"] for c in collector.chunk_metrics] == [7]
        analysis.process(Events(8))
    analysis.process(Events())
    assert [c["num_events"] for c in collector.chunk_metrics] == [7, 8]
    assert collector.get_metrics()["total_events"] == 15
    assert len(waiting()) == 1


def test_records_of_calls_that_raise_reach_the_block():
    def process(*_):
        raise ValueError("no jets")

    with roastcoffea.monitor() as run, pytest.raises(ValueError, match="no jets"):
        make_processor(process).process(Events())
    assert [c["status"] for c in run.chunk_metrics] == ["failed"]


def test_the_innermost_block_has_the_records():
    analysis = make_processor(lambda *_: None)
    with roastcoffea.monitor() as outer:
        analysis.process(Events(1))
        with roastcoffea.monitor() as inner:
            analysis.process(Events(2))
        analysis.process(Events(3))
    assert [c["num_events"] for c in outer.chunk_metrics] == [1, 3]
    assert [c["num_events"] for c in inner.chunk_metrics] == [2]


# ---- files and sections --------------------------------------------------------------


def test_metadata_of_a_file_has_its_name_and_branches(passed, tiny_file):
    files = passed[0].get_metrics()["file_metadata"]
    (facts,) = files.values()
    assert list(files) == [facts["filename"]] == [str(tiny_file)]
    with uproot.open(tiny_file) as root:
        tree = root["Events"]
        expected = {
            branch.name: branch.compressed_bytes
            for branch in tree.itervalues(recursive=True)
        }
    assert facts["branch_bytes"] == expected
    read = passed[0].get_metrics()["file_read_metrics"][str(tiny_file)]
    assert read["bytes_read"] == sum(expected[x] for x in read["accessed_branches"])


def test_branches_of_files_are_a_table(passed):
    table = passed[0].run.file_branches
    (facts,) = passed[0].get_metrics()["file_metadata"].values()
    named = dict(zip(table["branch"], table["compressed_bytes"], strict=True))
    assert named == facts["branch_bytes"]
    assert all(size > 0 for size in table["uncompressed_bytes"])


def test_a_saved_run_knows_the_branches(passed, tmp_path):
    path = passed[0].save(tmp_path / "a.roast")
    found = roastcoffea.open_run(path).get_metrics()["file_metadata"]
    assert found == passed[0].get_metrics()["file_metadata"]


def test_sections_have_the_names_of_0_1_2(passed):
    section = passed[0].get_metrics()["sections"]["sum"]
    assert section["count"] == CHUNKS
    assert section["total_duration"] == section["total"] > 0
    assert section["mean_duration"] == pytest.approx(section["total"] / CHUNKS)


def test_a_dataset_of_none_is_unknown():
    records = [{"dataset": None, "duration": 1.0, "num_events": 5}, {"duration": 1.0}]
    found = chunk.aggregate_chunk_metrics(records)["per_dataset"]
    assert list(found) == ["unknown"]
    assert found["unknown"]["num_chunks"] == 2
    with roastcoffea.monitor() as run:
        run.set_chunk_metrics(records)
    assert list(run.get_metrics()["per_dataset"]) == ["unknown"]


# ---- functions -----------------------------------------------------------------------


def test_fine_metrics_have_the_sums_of_all_tasks():
    spans = {
        ("execute", "process", "thread-cpu", "seconds"): 3.0,
        ("execute", "process", "thread-noncpu", "seconds"): 1.0,
        ("execute", "other", "thread-cpu", "seconds"): 0.5,
        ("execute", "other", "thread-noncpu", "seconds"): 0.25,
    }
    found = fine_metrics.parse_fine_metrics(spans, processor_name="process")
    assert (found["cpu_time_seconds"], found["io_time_seconds"]) == (3.5, 1.25)
    assert found["processor_cpu_time_seconds"] == 3.0


def rows_of(table):
    return dict(
        zip(table.columns[0]._cells, table.columns[1]._cells, strict=True)
        if table
        else ()
    )


@pytest.mark.parametrize(
    "metrics",
    [
        {"num_chunks": 5},
        {"num_chunks": 5, "chunk_duration_mean": 1.5},
        {"num_chunks": 5, "chunk_mem_delta_mean_mb": 1.5},
        {"num_chunks": 5, "chunk_events_mean": 100.0},
    ],
)
def test_a_chunk_table_needs_few_keys(metrics):
    rows = rows_of(reporter.format_chunk_metrics_table(metrics))
    assert rows["Total Chunks"] == "5"
    assert len(rows) > len(metrics)  # successful and failed ones are not known


@pytest.mark.parametrize("metrics", [{}, {"num_chunks": 0}])
def test_a_chunk_table_of_nothing_is_none(metrics):
    assert reporter.format_chunk_metrics_table(metrics) is None


def test_fine_metrics_table_has_compression_and_serialization():
    times = {
        "compression_time_seconds": 0.25,
        "decompression_time_seconds": 0.5,
        "serialization_time_seconds": 1.0,
        "deserialization_time_seconds": 0.0,
    }
    totals = {
        "total_compression_overhead_seconds": 0.75,
        "total_serialization_overhead_seconds": 0.0,
    }
    metrics = {"processor_cpu_time_seconds": 1.0} | times | totals
    rows = rows_of(reporter.format_fine_metrics_table(metrics))
    assert rows["Compression Overhead"] == "750 ms"
    assert rows["  Decompress"] == "500 ms"
    assert rows["Serialization Overhead"] == "0 s"


def test_branch_coverage_takes_0_1_2_s_file_metadata():
    facts = {"filename": "a.root", "total_branches": 4, "branch_bytes": {"x": 1}}
    records = [{"file": "a.root", "file_metadata": facts}]
    found = branch_coverage.aggregate_branch_coverage(records)
    assert found["file_metadata"]["a.root"]["branch_bytes"] == {"x": 1}


# ---- the collector -------------------------------------------------------------------


def test_a_collector_has_the_attributes_of_0_1_2(passed):
    collector = passed[0]
    assert collector.processor_name == "Measured"
    assert collector.metrics_backend is collector.backend
    assert collector.aggregator.parser is not None
    assert collector.custom_metrics is None
    assert collector.coffea_report["entries"] == EVENTS
    assert collector.span_info is None  # no spans on this executor
    fresh = roastcoffea.MetricsCollector(processor_instance=Measured())
    assert fresh.processor_name == "Measured"
    assert (fresh.coffea_report, fresh.span_info) == (None, None)


def test_custom_metrics_of_a_report_are_kept():
    custom = {"ttbar": {"entries": 5, "duration": 1.0}}
    with roastcoffea.MetricsCollector() as collector:
        collector.set_coffea_report({"entries": 5}, custom_metrics=custom)
    assert collector.custom_metrics == custom
    assert collector.coffea_report == {"entries": 5}


def test_keywords_of_0_1_2():
    with roastcoffea.MetricsCollector() as collector:
        collector.record_chunk_metrics(chunk_data={"dataset": "a", "duration": 1.0})
        collector.record_section_metrics(
            section_data={"name": "jets", "duration": 0.5, "type": "time"}
        )
    assert [c["duration"] for c in collector.chunk_metrics] == [1.0]
    assert collector.section_metrics[0]["name"] == "jets"
    assert collector.backend.get_span_metrics(span_id=None) == {}
    span = inspect.signature(roastcoffea.DaskBackend.get_span_metrics).parameters
    assert {"span_info", "span_id", "delay"} <= set(span)


# ---- workers over time ---------------------------------------------------------------


def trapezoid(counts):
    """As the metrics reference prints it."""
    times = sorted(counts)
    span = (times[-1] - times[0]).total_seconds()
    return (
        sum(
            (counts[a] + counts[b]) / 2 * (b - a).total_seconds()
            for a, b in itertools.pairwise(times)
        )
        / span
    )


@pytest.mark.parametrize("interval_s", [0.02, 1.0])
def test_the_trapezoid_over_counts_is_the_average(tiny_file, interval_s):
    with roastcoffea.monitor(worker_tracking_interval=interval_s) as run:
        make_runner(threads())(fileset_of(tiny_file), processor_instance=Measured())
    counts = run.tracking_data["worker_counts"]
    average = run.get_metrics()["time_avg_workers"]
    assert trapezoid(counts) == pytest.approx(average, rel=0.02)
    times = [time.timestamp() for time in sorted(counts)]
    assert times[0] == pytest.approx(run.t_start, abs=1e-5)
    assert times[-1] == pytest.approx(run.t_end, abs=1e-5)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert statistics.median(gaps) <= 2 * interval_s


def test_files_that_cannot_be_read_are_named(tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "metrics.json").write_text("{")
    (broken / "start_end_time.txt").write_text("1,2\n")
    with pytest.raises(ValueError, match=str(broken / "metrics.json")):
        roastcoffea.load_measurement(broken)
    (tmp_path / "no.roast").write_bytes(b"no run at all")
    with pytest.raises(Exception, match=str(tmp_path / "no.roast")):
        roastcoffea.open_run(tmp_path / "no.roast")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=str(tmp_path / "file")):
        roastcoffea.save_measurement({}, 1.0, 2.0, tmp_path / "file", "name")
    with roastcoffea.monitor() as run:
        pass
    with pytest.raises(OSError, match="nowhere"):
        run.save(tmp_path / "nowhere" / "a.roast")
