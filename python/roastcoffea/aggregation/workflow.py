# SPDX-License-Identifier: BSD-3-Clause
"""A whole run, from coffea's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea.aggregation.chunk import known

__all__ = ["aggregate_workflow_metrics"]


def aggregate_workflow_metrics(
    coffea_report: Mapping[str, Any],
    t_start: float,
    t_end: float,
    custom_metrics: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Rates, totals and times of a run, under 0.1.2's names.

    ``custom_metrics`` ({dataset: {"entries", "duration", "performance_counters"}})
    replaces the report, which then gives the number of chunks only. 0.1.2's rules: a
    report without ``bytesread`` has neither events nor times, a missing ``processtime``
    is the wall time, and a rate that cannot be made is 0.
    """
    from roastcoffea import _core

    if not isinstance(coffea_report, Mapping):
        raise TypeError(f"the report is a mapping, not {coffea_report!r}")
    wall = t_end - t_start
    report = [coffea_report]
    bytes_read, events, seconds = known(report, "bytesread"), [], []
    if custom_metrics:
        rows = [row for row in dict(custom_metrics).values() if isinstance(row, dict)]
        events, seconds = known(rows, "entries"), known(rows, "duration")
        counters = known(rows, "performance_counters")
        bytes_read = known(counters, "num_requested_bytes")
    elif bytes_read:
        events = known(report, "entries")
        seconds = known(report, "processtime") or [wall]
    total_bytes, total_events, process_seconds = (
        _core.statistics(values)["total"] for values in (bytes_read, events, seconds)
    )
    chunks = (known(report, "chunks") or [0])[0]
    derived = _core.derive_metrics(
        {
            "wall_time": wall,
            "total_bytes_read": total_bytes,
            "total_events": total_events,
            "total_cpu_time": process_seconds,
            "num_chunks": chunks,
        }
    )
    return {
        "data_rate_gbps": derived.get("data_rate_gbps", 0.0),
        "total_events": total_events,
        "event_rate_elapsed_khz": derived.get("event_rate_elapsed_khz", 0.0),
        "event_rate_cpu_total_khz": derived.get("event_rate_cpu_total_khz", 0.0),
        "elapsed_time_seconds": wall,
        "total_cpu_time": process_seconds,
        "num_chunks": chunks,
        "avg_cpu_time_per_chunk": derived.get("avg_cpu_time_per_chunk", 0.0),
        "total_bytes_read": total_bytes,
    }
