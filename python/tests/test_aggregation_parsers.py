# SPDX-License-Identifier: BSD-3-Clause
"""Tracking data as worker metrics, and all levels joined by MetricsAggregator."""

from __future__ import annotations

import importlib.metadata
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from roastcoffea.aggregation import backends
from roastcoffea.aggregation.backends import (
    AbstractTrackingDataParser,
    DaskMetricsParser,
    DaskTrackingDataParser,
    TaskVineMetricsParser,
    get_parser,
    register_parser,
)
from roastcoffea.aggregation.backends.dask import (
    calculate_average_memory_per_worker,
    calculate_peak_memory,
    calculate_time_averaged_workers,
)
from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.backends.base import AbstractMetricsBackend


def at(seconds: float) -> datetime:
    return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


TRACKING: dict[str, Any] = {
    "worker_counts": {at(0): 2, at(10): 4, at(20): 4},
    "worker_memory": {"w1": [(at(0), 1e9), (at(1), 2e9)], "w2": [(at(0), 3e9)]},
    "worker_cores": {"w1": [(at(0), 2), (at(1), 4)], "w2": [(at(0), 4)]},
}

WORKERS = {
    "avg_workers": 3.5,
    "peak_workers": 4,
    "total_cores": 8.0,
    "cores_per_worker": 4.0,
    "peak_memory_bytes": 3e9,
    "avg_memory_per_worker_bytes": 2.25e9,
}


# ---- formulas ------------------------------------------------------------------------


def test_workers_are_averaged_over_time() -> None:
    counts = {at(20): 4, at(0): 2, at(10): 4}  # in any order
    assert calculate_time_averaged_workers(counts) == pytest.approx(3.5)
    assert calculate_time_averaged_workers({at(0): 3}) == 3.0


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_samples_are_zero(nothing: Any) -> None:
    assert calculate_time_averaged_workers(nothing) == 0.0
    assert calculate_peak_memory(nothing) == 0.0
    assert calculate_average_memory_per_worker(nothing) == 0.0


def test_memory_is_averaged_over_time_then_over_workers() -> None:
    memory = {"w1": [(at(10), 2.0), (at(0), 1.0), (at(1), 2.0)], "w2": [(at(0), 4.0)]}
    assert calculate_average_memory_per_worker(memory) == pytest.approx((1.95 + 4) / 2)
    assert calculate_peak_memory(memory) == 4.0


def test_unknown_samples_are_skipped() -> None:
    memory = {"w1": [(at(0), None), (at(1), 5)], "w2": [], "w3": None}
    assert calculate_peak_memory(memory) == 5  # type: ignore[arg-type]
    assert isinstance(calculate_peak_memory(memory), int)  # type: ignore[arg-type]
    assert calculate_average_memory_per_worker(memory) == 5.0  # type: ignore[arg-type]


def test_samples_of_one_moment_have_their_plain_mean() -> None:
    assert calculate_average_memory_per_worker({"w": [(at(0), 1.0), (at(0), 3.0)]}) == 2


def test_times_that_cannot_be_compared_are_an_error() -> None:
    naive = at(5).replace(tzinfo=None)
    with pytest.raises(TypeError):
        calculate_time_averaged_workers({at(0): 1, naive: 2})
    with pytest.raises(TypeError):
        calculate_time_averaged_workers({"a": 1, "b": 2})  # type: ignore[dict-item]


def test_times_too_far_apart_are_an_error() -> None:
    counts = {datetime.min: 1, datetime.max: 2}
    with pytest.raises(OverflowError, match="too far apart"):
        calculate_time_averaged_workers(counts)


def test_a_sample_is_a_pair() -> None:
    with pytest.raises((TypeError, IndexError)):
        calculate_peak_memory({"w": [(at(0),)]})  # type: ignore[list-item]
    with pytest.raises(TypeError):
        calculate_peak_memory({"w": [3]})  # type: ignore[list-item]


# ---- parsers -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dask", "taskvine", "local"])
def test_every_backend_of_ours_has_a_parser(name: str) -> None:
    parser = get_parser(name)
    assert isinstance(parser, AbstractTrackingDataParser)
    assert parser.parse_tracking_data(TRACKING) == pytest.approx(WORKERS)


def test_names_of_parsers() -> None:
    assert DaskMetricsParser is DaskTrackingDataParser
    assert type(get_parser("taskvine")) is TaskVineMetricsParser


@pytest.mark.parametrize("name", ["parsl", "Dask", "", None, 3, []])
def test_unknown_backend_error_lists_the_known_ones(name: Any) -> None:
    with pytest.raises(
        ValueError, match=r"Unsupported backend.*'dask', 'local', 'task"
    ):
        get_parser(name)


def test_nothing_tracked() -> None:
    empty = get_parser("dask").parse_tracking_data({})
    assert empty["total_cores"] is None
    assert empty["cores_per_worker"] is None
    assert empty["avg_workers"] == 0.0
    nothing: dict[str, Any] = {"worker_counts": None, "worker_cores": {"w": []}}
    assert get_parser("dask").parse_tracking_data(nothing) == empty


def test_not_a_number_does_not_become_one() -> None:
    data = {"worker_counts": {at(0): 1, at(1): math.nan}}
    assert math.isnan(get_parser("dask").parse_tracking_data(data)["avg_workers"])


class OwnParser(AbstractTrackingDataParser):
    def parse_tracking_data(self, tracking_data: dict[str, Any]) -> dict[str, Any]:
        return {"total_cores": 3}


def test_register_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_factories", dict(backends._factories))
    register_parser("mine", OwnParser)
    assert isinstance(get_parser("mine"), OwnParser)
    assert isinstance(MetricsAggregator("mine").parser, OwnParser)
    with pytest.raises(TypeError, match="callable"):
        register_parser("mine", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="non-empty"):
        register_parser("", OwnParser)


class OwnBackend:
    tracking_data_parser = OwnParser


class PlainBackend:
    """Gives tracking data in the common shape."""


@pytest.mark.parametrize(
    ("target", "parser"),
    [
        ("OwnParser", OwnParser),
        ("OwnBackend", OwnParser),
        ("PlainBackend", DaskTrackingDataParser),
    ],
)
def test_entry_points_are_used(
    monkeypatch: pytest.MonkeyPatch, target: str, parser: type
) -> None:
    entry = importlib.metadata.EntryPoint(
        "other", f"{__name__}:{target}", backends.GROUP
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    assert type(get_parser("other")) is parser
    with pytest.raises(ValueError, match="'local', 'other', 'taskvine'"):
        get_parser("another")


# ---- a backend of one's own ----------------------------------------------------------


def test_backend_has_exactly_five_abstract_methods() -> None:
    assert AbstractMetricsBackend.__abstractmethods__ == {
        "start_tracking",
        "stop_tracking",
        "create_span",
        "get_span_metrics",
        "supports_fine_metrics",
    }
    with pytest.raises(TypeError):
        AbstractMetricsBackend()  # type: ignore[abstract]


# ---- everything together -------------------------------------------------------------

REPORT = {"bytesread": 2 * 10**9, "entries": 10**6, "processtime": 50.0, "chunks": 10}


def test_aggregate_without_anything_else() -> None:
    metrics = MetricsAggregator("dask").aggregate(REPORT, None, 100.0, 110.0)
    assert metrics["tracking_data"] is None
    assert metrics["core_efficiency"] is None
    assert metrics["speedup_factor"] == 5.0
    assert "avg_workers" not in metrics
    assert not any(name.startswith(("raw_", "chunk_")) for name in metrics)


def test_aggregate_all_levels() -> None:
    record = {"duration": 2.0, "num_events": 5, "file": "f", "entry_start": 0}
    chunks = [record | {"entry_stop": 5, "t_start": 1.0, "t_end": 3.0, "bytes_read": 7}]
    spans: dict[tuple[str, ...], float] = {
        ("execute", "P", "thread-cpu", "seconds"): 3.0
    }
    sections = [{"name": "s", "duration": 1.0}]
    metrics = MetricsAggregator("dask").aggregate(
        REPORT,
        TRACKING,
        100.0,
        110.0,
        span_metrics=spans,
        processor_name="P",
        chunk_metrics=chunks,
        section_metrics=sections,
    )
    assert metrics["core_efficiency"] == 0.625
    assert metrics["processor_cpu_time_seconds"] == 3.0
    assert metrics["num_chunks"] == 1  # of the records, as in 0.1.2
    assert metrics["chunk_info"] == {("f", 0, 5): (1.0, 3.0, 7)}
    assert metrics["sections"]["s"]["count"] == 1
    assert metrics["total_branches_read"] == 0
    assert metrics["tracking_data"] is TRACKING
    assert metrics["raw_chunk_metrics"] is chunks
    assert metrics["raw_section_metrics"] is sections
    assert metrics["raw_span_metrics"] is spans


def test_aggregator_of_an_unknown_backend() -> None:
    with pytest.raises(ValueError, match="Unsupported backend: x"):
        MetricsAggregator("x")
