# SPDX-License-Identifier: BSD-3-Clause
"""What scripts written for 0.1.2 compute on their own keeps 0.1.2's numbers.

The expected values were taken from 0.1.2 itself, called with the same arguments.
"""

from __future__ import annotations

import gc
import math
import sys

import pytest

from roastcoffea.aggregation.branch_coverage import (
    aggregate_branch_coverage,
    parse_accessed_branches,
)
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics, build_chunk_info
from roastcoffea.aggregation.efficiency import calculate_efficiency_metrics
from roastcoffea.aggregation.fine_metrics import parse_fine_metrics
from roastcoffea.aggregation.workflow import aggregate_workflow_metrics
from test_aggregation_chunks import chunk

REPORT = {
    "bytesread": 2_000_000_000,
    "entries": 1_000_000,
    "processtime": 50.0,
    "chunks": 10,
    "columns": ["Jet_pt-data"],
}

DATASETS = {
    "a": {
        "entries": 2,
        "duration": 4.0,
        "performance_counters": {"num_requested_bytes": 7},
    },
    "b": {
        "entries": 5,
        "duration": 1.5,
        "performance_counters": {"num_requested_bytes": 9},
    },
    "note": "not a dataset",
}


def metadata(name: str) -> dict[str, object]:
    sizes = {"Jet_pt": 100, "Muon_pt": 50}
    return {
        "filename": name,
        "compression_ratio": 0.4,
        "total_branches": 10,
        "total_tree_bytes": 1000,
        "branch_bytes": sizes,
    }


# ---- workflow and efficiency ---------------------------------------------------------


def test_workflow_of_a_report() -> None:
    metrics = aggregate_workflow_metrics(REPORT, 100.0, 110.0)
    assert metrics == {
        "data_rate_gbps": 1.6,
        "total_events": 1_000_000,
        "event_rate_elapsed_khz": 100.0,
        "event_rate_cpu_total_khz": 20.0,
        "elapsed_time_seconds": 10.0,
        "total_cpu_time": 50.0,
        "num_chunks": 10,
        "avg_cpu_time_per_chunk": 5.0,
        "total_bytes_read": 2_000_000_000,
    }


def test_custom_metrics_go_before_the_report() -> None:
    metrics = aggregate_workflow_metrics(REPORT, 100.0, 110.0, DATASETS)
    assert metrics["total_events"] == 7
    assert metrics["total_bytes_read"] == 16
    assert metrics["total_cpu_time"] == 5.5
    assert metrics["num_chunks"] == 10
    assert aggregate_workflow_metrics(REPORT, 0.0, 1.0, {})["total_events"] == 1_000_000


@pytest.mark.parametrize("wall", [0.0, -1.0, math.nan])
def test_no_wall_time_gives_no_rate(wall: float) -> None:
    metrics = aggregate_workflow_metrics(REPORT, 0.0, wall)
    assert metrics["data_rate_gbps"] == 0
    assert metrics["event_rate_elapsed_khz"] == 0
    assert metrics["event_rate_cpu_total_khz"] == 20.0


def test_report_without_bytes_gives_only_chunks() -> None:
    metrics = aggregate_workflow_metrics({"entries": 5, "chunks": 2}, 0.0, 1.0)
    assert metrics["total_events"] == 0
    assert metrics["num_chunks"] == 2


def test_missing_process_time_is_the_wall_time() -> None:
    report = {"bytesread": 1, "entries": 1}
    assert aggregate_workflow_metrics(report, 1.0, 3.0)["total_cpu_time"] == 2.0


def test_integers_stay_exact() -> None:
    report = REPORT | {"entries": 2**64 + 1, "bytesread": 2**63}
    metrics = aggregate_workflow_metrics(report, 0, 1)
    assert metrics["total_events"] == 2**64 + 1
    assert metrics["total_bytes_read"] == 2**63


@pytest.mark.parametrize(
    ("value", "error"),
    [("seven", TypeError), (10**400, OverflowError), ([1], TypeError)],
)
def test_nonsense_in_a_report_is_an_error(value: object, error: type) -> None:
    with pytest.raises(error):
        aggregate_workflow_metrics(REPORT | {"entries": value}, 0.0, 1.0)


@pytest.mark.parametrize("report", [None, 3, "text"])
def test_a_report_is_a_mapping(report: object) -> None:
    with pytest.raises(TypeError):
        aggregate_workflow_metrics(report, 0.0, 1.0)  # type: ignore[arg-type]


def test_efficiency() -> None:
    workflow = aggregate_workflow_metrics(REPORT, 100.0, 110.0)
    assert calculate_efficiency_metrics(workflow, {"total_cores": 8.0}) == {
        "core_efficiency": 0.625,
        "speedup_factor": 5.0,
        "event_rate_core_khz": 12.5,
    }


@pytest.mark.parametrize("cores", [None, 0, -1.0, math.nan])
def test_efficiency_without_cores_is_not_known(cores: object) -> None:
    workflow = aggregate_workflow_metrics(REPORT, 100.0, 110.0)
    metrics = calculate_efficiency_metrics(workflow, {"total_cores": cores})
    assert metrics["core_efficiency"] is None
    assert metrics["event_rate_core_khz"] is None
    assert metrics["speedup_factor"] == 5.0


def test_efficiency_of_nothing() -> None:
    expected = {"core_efficiency": None, "speedup_factor": 0.0}
    expected["event_rate_core_khz"] = None
    assert calculate_efficiency_metrics({}, {}) == expected


def test_efficiency_of_what_is_no_number_is_none_either() -> None:
    workflow = {"elapsed_time_seconds": 10.0, "total_cpu_time": math.nan}
    metrics = calculate_efficiency_metrics(workflow, {"total_cores": 8.0})
    assert math.isnan(metrics["core_efficiency"])
    assert math.isnan(metrics["speedup_factor"])


# ---- branches ------------------------------------------------------------------------


def test_only_data_columns_are_branches() -> None:
    columns = [
        "Jet_pt-data",
        "nJet-offsets",
        "Muon_pt-data",
        "x",
        "a-data-data",
        "é-data",
    ]
    expected = {"Jet_pt", "Muon_pt", "a-data", "é"}
    assert parse_accessed_branches(columns) == expected
    assert parse_accessed_branches(set()) == set()
    with pytest.raises(TypeError):
        parse_accessed_branches([1])  # type: ignore[list-item]


def test_branch_coverage() -> None:
    read = {"bytes_read_percent": 20.0, "branches_read_percent": 10.0}
    chunks = [
        chunk(accessed_branches=["Jet_pt"]),
        chunk(file_metadata=metadata("f1.root"), accessed_bytes=200, **read),
        chunk(file_metadata=metadata("f1.root"), accessed_branches=["Jet_pt", "run"]),
        chunk(file="g.root", file_metadata=metadata("g.root")),
    ]
    coverage = aggregate_branch_coverage(chunks, REPORT)
    assert list(coverage["file_metadata"]) == ["f1.root", "g.root"]
    assert coverage["compression_ratios"] == [0.4, 0.4]
    assert coverage["file_read_metrics"]["f1.root"] == {
        "total_branches": 10,
        "branches_read_percent": 10.0,
        "total_tree_bytes": 1000,
        "bytes_read": 200,
        "bytes_read_percent": 20.0,
    }
    assert coverage["avg_branches_read_percent"] == 5.0
    assert coverage["avg_bytes_read_percent"] == 10.0
    assert coverage["bytes_read_percent_per_file"] == [20.0]
    assert coverage["total_branches_read"] == 2


@pytest.mark.parametrize("chunks", [None, []])
def test_no_chunks_cover_nothing(chunks: object) -> None:
    assert aggregate_branch_coverage(chunks, REPORT) == {}  # type: ignore[arg-type]


def test_chunks_without_metadata_name_no_file() -> None:
    coverage = aggregate_branch_coverage([{}, {"file_metadata": None}])
    assert coverage["file_metadata"] == {}
    assert coverage["avg_bytes_read_percent"] == 0.0


# ---- fine metrics --------------------------------------------------------------------

SPANS = {
    ("execute", "MyProc", "thread-cpu", "seconds"): 3.0,
    ("execute", "MyProc", "thread-noncpu", "seconds"): 1.0,
    ("execute", "other", "thread-cpu", "seconds"): 0.5,
    ("execute", "MyProc", "memory-read", "bytes"): 1000,
    ("execute", "MyProc", "memory-read", "count"): 3,
    ("execute", "other", "disk-write", "bytes"): 2,
    ("execute", "MyProc", "compress", "seconds"): 0.1,
    ("execute", "MyProc", "decompress", "seconds"): 0.2,
    ("execute", "MyProc", "serialize", "seconds"): 0.3,
    ("execute", "MyProc", "deserialize", "seconds"): None,
    ("get-data", "serialize", "seconds"): 9.0,
    "execute": 5,
}


def test_fine_metrics_of_a_processor() -> None:
    fine = parse_fine_metrics(SPANS, "MyProc")  # type: ignore[arg-type]
    assert fine["processor_cpu_time_seconds"] == 3.0
    assert fine["processor_cpu_percent"] == 75.0
    assert fine["processor_io_wait_percent"] == 25.0
    assert fine["overhead_cpu_time_seconds"] == 0.5
    assert fine["total_bytes_memory_read"] == 1000
    assert isinstance(fine["total_bytes_memory_read"], int)
    assert fine["disk_write_bytes"] == 2
    assert fine["total_compression_overhead_seconds"] == pytest.approx(0.3)
    assert fine["total_serialization_overhead_seconds"] == 0.3
    assert len(fine) == 17


def test_without_a_name_all_is_the_processors() -> None:
    fine = parse_fine_metrics(SPANS)  # type: ignore[arg-type]
    assert fine["processor_cpu_time_seconds"] == 3.5
    assert fine["overhead_cpu_time_seconds"] == 0.0
    assert not any(parse_fine_metrics({}, "MyProc").values())


# ---- references ----------------------------------------------------------------------


class Angry:
    """A number that cannot be converted."""

    def __float__(self) -> float:
        raise KeyboardInterrupt

    def __radd__(self, other: object) -> object:
        raise KeyboardInterrupt


def test_foreign_exceptions_pass_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        aggregate_chunk_metrics([chunk(duration=Angry())])
    with pytest.raises(KeyboardInterrupt):
        aggregate_workflow_metrics(REPORT | {"entries": Angry()}, 0.0, 1.0)


def test_no_reference_is_lost_or_kept() -> None:
    value = 123456.789
    records = [chunk(duration=value, mem_delta_mb=value, num_events=value)] * 3
    records.append(chunk(duration=value, num_events="bad"))

    def use() -> None:
        aggregate_chunk_metrics(records[:3], [{"name": "s", "duration": value}])
        build_chunk_info(records)
        aggregate_branch_coverage([chunk(file_metadata=metadata("f"))] * 2)
        parse_fine_metrics({("e", "p", "thread-cpu", "seconds"): value}, "p")
        aggregate_workflow_metrics(REPORT | {"entries": value}, 0.0, value, DATASETS)
        with pytest.raises(TypeError):
            aggregate_chunk_metrics(records)

    for _ in range(3):
        use()
    gc.collect()
    before = sys.getrefcount(value), len(gc.get_objects())
    for _ in range(50):
        use()
    gc.collect()
    assert sys.getrefcount(value) == before[0]
    assert len(gc.get_objects()) < before[1] + 50
