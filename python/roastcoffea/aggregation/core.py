# SPDX-License-Identifier: BSD-3-Clause
"""All of a run's numbers in one dict, from what the caller has collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roastcoffea.aggregation.backends import get_parser
from roastcoffea.aggregation.branch_coverage import aggregate_branch_coverage
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics, build_chunk_info
from roastcoffea.aggregation.efficiency import calculate_efficiency_metrics
from roastcoffea.aggregation.fine_metrics import parse_fine_metrics
from roastcoffea.aggregation.workflow import aggregate_workflow_metrics

__all__ = ["MetricsAggregator"]


class MetricsAggregator:
    """Joins the aggregations; ``backend`` names the parser of tracking data."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.parser = get_parser(backend)

    def aggregate(
        self,
        coffea_report: Mapping[str, Any],
        tracking_data: dict[str, Any] | None,
        t_start: float,
        t_end: float,
        custom_metrics: Mapping[str, Any] | None = None,
        span_metrics: Mapping[tuple[str, ...], Any] | None = None,
        processor_name: str | None = None,
        chunk_metrics: Sequence[Mapping[str, Any]] | None = None,
        section_metrics: Sequence[Mapping[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Metrics of all levels, and the raw data they came from."""
        workflow = aggregate_workflow_metrics(
            coffea_report, t_start, t_end, custom_metrics
        )
        workers: dict[str, Any] = {}
        if tracking_data is not None:
            workers = self.parser.parse_tracking_data(tracking_data)
        metrics = workflow | workers | calculate_efficiency_metrics(workflow, workers)
        if span_metrics:
            metrics |= parse_fine_metrics(span_metrics, processor_name)
        if chunk_metrics:
            metrics |= aggregate_chunk_metrics(chunk_metrics, section_metrics)
            if info := build_chunk_info(chunk_metrics):
                metrics["chunk_info"] = info
            metrics |= aggregate_branch_coverage(chunk_metrics, coffea_report)
        metrics["tracking_data"] = tracking_data
        raw = {
            "raw_chunk_metrics": chunk_metrics,
            "raw_section_metrics": section_metrics,
            "raw_span_metrics": span_metrics,
        }
        return metrics | {name: data for name, data in raw.items() if data}
