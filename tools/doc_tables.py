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
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST_ROW = r'^[%s]\(((?:"(?:[^"\\]|\\.)*"|\([^"()]*\)|[^"()])*)\)$'
LISTS = ROOT / "include" / "roast"
ARGUMENT = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


class Table(NamedTuple):
    """A list, the header of its table, and which rows and columns to show."""

    source: str
    header: tuple[str, ...]
    columns: tuple[int, ...]
    only: str | None = None  # value of the second column
    code: int | None = None  # column of names in code
    bits: int | None = None  # column of SLICE(a) | SLICE(b)
    made: Callable[[list[str]], list[str]] | None = None  # another row of each
    kind: str = "A-Z"  # the macros whose rows are shown


def plain(source: str, *header: str) -> Table:
    return Table(source, header, tuple(range(len(header))))


def rule(macro: str, header: tuple[str, ...]) -> Table:
    columns = tuple(range(len(header)))
    return Table("secret_rules.def", header, columns, code=0, kind=macro)


def other_names() -> dict[str, list[str]]:
    """Of each metric, with the factor where the unit is another one."""
    found: dict[str, list[str]] = {}
    text = (LISTS / "metric_aliases.def").read_text()
    for alias, name, per in re.findall(
        r'^A\("(\w+)", (\w+), (\S+)\)$', text, re.MULTILINE
    ):
        factor = "" if per == "1" else f" (/ {per})"
        found.setdefault(name, []).append(alias + factor)
    return found


OTHER_NAMES = other_names()


def metric(item: list[str]) -> list[str]:
    """A metric with its other names."""
    name, group, unit, _, kind, formula = item[:6]
    others = ", ".join(OTHER_NAMES.get(name, []))
    return [name, group, others, unit, kind.lower(), formula]


def level(name: str) -> Table:
    header = ("name", "also", "unit", "kind", "formula or meaning")
    return Table("metric_defs.def", header, (0, 2, 3, 4, 5), name, made=metric)


def columns_of(name: str) -> Table:
    header = ("column", "type", "unit", "meaning")
    return Table("table_columns.def", header, (0, 2, 3, 4), name, made=column)


def column(item: list[str]) -> list[str]:
    """A column; a list of texts is shown as a text."""
    return [*item[:2], item[2].replace("TEXTS", "TEXT"), *item[3:]]


def table_names() -> list[str]:
    text = (LISTS / "tables.def").read_text()
    return re.findall(r"^T\((\w+),", text, re.MULTILINE)


def ladder_column(item: list[str]) -> list[str]:
    """The column of a ladder item, as src/table/catalog.c makes it."""
    _, name, kind, _, meaning = item[:5]
    views = (LISTS / "record_views.def").read_text()
    view = re.search(rf'^VI\("(\w+)", {name}\)$', views, re.MULTILINE)
    is_time = kind in {"SLICE", "TIME"}
    unit = "s" if is_time else "bytes" if kind == "BYTES" else "none"
    column = view[1] if view else f"{name}_s" if is_time else name
    return [column, "DOUBLE" if is_time else "INT64", unit, meaning]


HOOKS = Table(
    "hooks.def",
    ("number", "name", "where", "slices not measured without it", "what is lost"),
    (0, 1, 2, 3, 4),
    code=2,
    bits=3,
)

DOCUMENTS = {
    "cli.md": {
        "measures": Table("compare_measures.def", ("measure", "meaning"), (0, 6)),
        "run_differences": Table(
            "run_differences.def", ("different", "what can be compared"), (1, 2)
        ),
    },
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
        "entries": plain("journal_entries.def", "number", "name", "payload"),
    },
    "findings.md": {
        "rules": plain("finding_rules.def", "id", "title", "evidence", "advice")
    },
    "hooks.md": {"hooks": HOOKS},
    "metrics.md": {
        "workflow": level("workflow"),
        "workers": level("workers"),
        "chunks": level("chunks"),
        "inside": level("inside"),
        "fine": level("fine"),
        "efficiency": level("efficiency"),
        "slices": plain("budget_slices.def", "slice", "shown as", "meaning"),
        "series": Table("series.def", ("key in tracking_data", "unit"), (1, 3)),
        "losses": plain("run_losses.def", "name", "meaning"),
    },
    "secrets.md": {
        "names": rule("N", ("name", "where", "value", "kind of secret")),
        "options": rule("O", ("option", "value", "kind of secret")),
        "prefixes": rule(
            "T", ("begins with", "followed by", "least", "kind of secret")
        ),
    },
    "tables.md": {
        "tables": Table("tables.def", ("table", "one row is"), (0, 5), kind="T"),
        "ladder": Table(
            "ladder_items.def",
            ("column", "type", "unit", "meaning"),
            (0, 1, 2, 3),
            made=ladder_column,
        ),
    }
    | {name: columns_of(name) for name in table_names()},
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
    text = (LISTS / table.source).read_text()
    found = []
    for arguments in re.findall(
        LIST_ROW % table.kind, text.partition("*/\n")[2], re.MULTILINE
    ):
        cells = ARGUMENT.findall(arguments)
        cells = [shown(table, i, cell) for i, cell in enumerate(cells)]
        cells = table.made(cells) if table.made else cells
        if table.only is None or cells[1] == table.only:
            found.append([cells[i] for i in table.columns])
    return found


def markdown(table: Table) -> str:
    """A list as a markdown table."""
    lines = [list(table.header), ["---"] * len(table.header), *rows(table)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def with_tables(document: str, tables: dict[str, Table]) -> str:
    """The document with every table made anew; that of a new table is the last one."""
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        if table.source == "table_columns.def" and start not in document:
            document += f"\n## {name}\n\n{start}\n{end}\n"
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
