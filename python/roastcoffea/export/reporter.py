# SPDX-License-Identifier: BSD-3-Clause
"""Metrics as rich tables.

Labels, values and titles are made by C, as for the terminal and the notebook: here they
only become a table. Text that came from data is escaped, so that a dataset called
``[red]`` is shown and not obeyed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "format_chunk_metrics_table",
    "format_event_processing_table",
    "format_fine_metrics_table",
    "format_resources_table",
    "format_throughput_table",
    "format_timing_table",
]


def format_throughput_table(metrics: Mapping[str, Any]) -> Table:
    """Throughput Metrics."""
    return _table(0, _rows(0, metrics))


def format_event_processing_table(metrics: Mapping[str, Any]) -> Table:
    """Event Processing Metrics."""
    return _table(1, _rows(1, metrics))


def format_resources_table(metrics: Mapping[str, Any]) -> Table:
    """Resource Utilization."""
    return _table(2, _rows(2, metrics))


def format_timing_table(metrics: Mapping[str, Any]) -> Table:
    """Timing Breakdown."""
    return _table(3, _rows(3, metrics))


def format_fine_metrics_table(metrics: Mapping[str, Any]) -> Table | None:
    """Fine Metrics (from Dask Spans); None without any."""
    rows = _rows(4, metrics)
    return _table(4, rows) if rows else None


def format_chunk_metrics_table(metrics: Mapping[str, Any]) -> Table | None:
    """Chunk Metrics; None without any."""
    rows = _rows(5, metrics)
    return _table(5, rows) if rows else None


def _rows(index: int, metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    from roastcoffea import _core

    return _core.table_rows(
        index, metrics if isinstance(metrics, dict) else dict(metrics)
    )


def _table(index: int, rows: list[tuple[str, str]]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from roastcoffea import _core

    table = Table(
        title=_core.table_titles()[index], show_header=True, header_style="bold cyan"
    )
    table.add_column("Metric", style="cyan", no_wrap=True)
    table.add_column("Value", style="magenta")
    for label, value in rows:
        table.add_row(escape(label), escape(value))
    return table
