# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/*.md from the lists they describe.

    python tools/doc_tables.py           rewrite the tables
    python tools/doc_tables.py --check   exit 1 when they are out of date

The lists are the .def files of include/roast: one row of a list, one row of a table,
between `<!-- NAME -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST_ROW = re.compile(
    r'^[A-Z]\(((?:"(?:[^"\\]|\\.)*"|\([^"()]*\)|[^"()])*)\)$', re.MULTILINE
)
ARGUMENT = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


class Table(NamedTuple):
    """A list, the header of its table, and which rows and columns to show."""

    source: str
    header: tuple[str, ...]
    columns: tuple[int, ...]
    only: str | None = None  # value of the second column
    code: int | None = None  # column of names in code
    bits: int | None = None  # column of SLICE(a) | SLICE(b)


def plain(source: str, *header: str) -> Table:
    return Table(source, header, tuple(range(len(header))))


def level(name: str) -> Table:
    return Table(
        "metric_defs.def", ("name", "unit", "formula or meaning"), (0, 2, 4), name
    )


HOOKS = Table(
    "hooks.def",
    ("number", "name", "where", "slices not told without it", "what is lost"),
    (0, 1, 2, 3, 4),
    code=2,
    bits=3,
)

DOCUMENTS = {
    "format.md": {
        "fields": plain(
            "record_fields.def", "number", "name", "type", "unit", "meaning"
        ),
        "items": plain(
            "ladder_items.def", "number", "name", "kind", "shown as", "meaning"
        ),
        "losses": plain("losses.def", "number", "name", "meaning"),
        "reasons": plain("reasons.def", "number", "name", "shown as"),
        "status": plain("status.def", "name", "value", "meaning"),
    },
    "hooks.md": {"hooks": HOOKS},
    "metrics.md": {
        "workflow": level("workflow"),
        "workers": level("workers"),
        "chunks": level("chunks"),
        "inside": level("inside"),
        "fine": level("fine"),
        "efficiency": level("efficiency"),
        "aliases": plain("metric_aliases.def", "other name", "of", "times"),
        "series": Table("series.def", ("key in tracking_data", "unit"), (1, 3)),
        "losses": plain("run_losses.def", "name", "meaning"),
    },
}


def shown(table: Table, column: int, cell: str) -> str:
    """A cell of a list as its table shows it."""
    if column == table.bits:
        return ", ".join(re.findall(r"SLICE\((\w+)\)", cell))
    if cell.startswith('"'):
        cell = cell[1:-1].replace('\\"', '"')
    cell = cell.replace("|", "\\|")
    return f"`{cell}`" if column == table.code else cell


def rows(table: Table) -> list[list[str]]:
    """The rows of a list that the table shows, cell by cell."""
    text = (ROOT / "include" / "roast" / table.source).read_text()
    found = []
    for arguments in LIST_ROW.findall(text.partition("*/\n")[2]):
        cells = ARGUMENT.findall(arguments)
        cells = [shown(table, i, cell) for i, cell in enumerate(cells)]
        if table.only is None or cells[1] == table.only:
            found.append([cells[i] for i in table.columns])
    return found


def markdown(table: Table) -> str:
    """A list as a markdown table."""
    lines = [list(table.header), ["---"] * len(table.header), *rows(table)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def with_tables(document: str, tables: dict[str, Table]) -> str:
    """The document with every table made anew."""
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, _, rest = document.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"no place for the table {name!r}")
        document = f"{before}{start}\n{markdown(table)}\n{end}{after}"
    return document


def main() -> int:
    stale = 0
    for name, tables in DOCUMENTS.items():
        path = ROOT / "docs" / name
        old = path.read_text()
        new = with_tables(old, tables)
        if "--check" not in sys.argv[1:]:
            path.write_text(new)
        elif old != new:
            print(f"{name} is out of date: run tools/doc_tables.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
