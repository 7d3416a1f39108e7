# SPDX-License-Identifier: BSD-3-Clause
"""The six tables: titles, columns, and nothing obeyed that came from data."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from roastcoffea import _core
from roastcoffea.export import reporter
from support import run_python

TABLES = {
    "throughput": "Throughput Metrics",
    "event_processing": "Event Processing Metrics",
    "resources": "Resource Utilization",
    "timing": "Timing Breakdown",
    "fine_metrics": "Fine Metrics (from Dask Spans)",
    "chunk_metrics": "Chunk Metrics",
}


def rows_given(
    monkeypatch: pytest.MonkeyPatch, rows: list[tuple[str, str]]
) -> list[Any]:
    """Let C return these rows; returns the arguments it got."""
    requested: list[Any] = []

    def table_rows(index: int, metrics: Any) -> list[tuple[str, str]]:
        requested.append((index, metrics))
        return rows

    monkeypatch.setattr(_core, "table_rows", table_rows, raising=False)
    return requested


def cells(table: Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.cells for column in table.columns), strict=True))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_shows_the_rows_of_c(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    metrics = {"wall_time": 1.0}
    requested = rows_given(
        monkeypatch, [("Data Rate", "1.60 Gbps"), ("Bytes", "2.00 GB")]
    )
    table = getattr(reporter, f"format_{name}_table")(metrics)
    assert isinstance(table, Table)
    assert table.title == TABLES[name]
    assert [column.header for column in table.columns] == ["Metric", "Value"]
    assert cells(table) == [("Data Rate", "1.60 Gbps"), ("Bytes", "2.00 GB")]
    assert requested == [(list(TABLES).index(name), metrics)]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_rows(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    rows_given(monkeypatch, [])
    table = getattr(reporter, f"format_{name}_table")({})
    if name in ("fine_metrics", "chunk_metrics"):
        assert table is None
    else:
        assert cells(table) == []


def test_markup_in_data_is_shown_not_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_given(monkeypatch, [("  [red]data[/red]", "[link=http://x]1 chunk")])
    table = reporter.format_chunk_metrics_table({})
    assert table is not None
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(table)
    text = console.export_text()
    assert "[red]data[/red]" in text
    assert "[link=http://x]1 chunk" in text


def test_titles_come_from_the_list_of_c() -> None:
    assert _core.table_titles() == [*TABLES.values(), "Command"]


def test_importing_the_tables_loads_nothing_heavy() -> None:
    script = """
        import sys
        import roastcoffea.aggregation.core
        import roastcoffea.backends.base
        import roastcoffea.export.reporter

        print(sorted({"rich", "json", "numpy", "dask", "roastcoffea._core"}
                     & sys.modules.keys()))
    """
    assert run_python(script).strip() == "[]"
