# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/*.md from the lists they describe.

    python tools/doc_tables.py           rewrite the tables
    python tools/doc_tables.py --check   exit 1 when they are out of date

The lists are the .def files of include/roast and src/report: one row of a list, one row
of a table, between `<!-- NAME -->` and `<!-- end NAME -->`.
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
PAGE_LISTS = ROOT / "src" / "report"
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


def text_of(source: str) -> str:
    """A list of the interface, or of the page."""
    found = LISTS / source
    return (found if found.exists() else PAGE_LISTS / source).read_text()


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


TEXT = r'"((?:[^"\\]|\\.)*)"'


def meanings(source: str, pattern: str) -> dict[str, str]:
    """The meaning of each row of a list."""
    text = (LISTS / source).read_text()
    return dict(re.findall(pattern + TEXT, text, re.MULTILINE))


METRICS = meanings("metric_defs.def", r'^M\((\w+), \w+, "[^"]*", \d, \w+, ')
COLUMNS = meanings("table_columns.def", r"^C\((\w+, \w+), \w+, [^,]+, ")


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


# ---- the words of the page -----------------------------------------------------------

TERM = ("on the page", "meaning")


def terms() -> dict[str, Table]:
    """A table for each section of the page."""
    text = text_of("page_terms.def")
    sections = re.findall(r"^W\(\w+, (\w+),", text, re.MULTILINE)
    return {
        name: Table("page_terms.def", TERM, (2, 3), name)
        for name in dict.fromkeys(sections)
    }


def metric_row(item: list[str]) -> list[str]:
    """A row of the tables of metrics: its metric, and the one in parentheses."""
    table, _, label, name, _, *beside = item
    meaning = METRICS[name]
    if len(beside) > 1:
        meaning += f"; ({beside[0]}...) {METRICS[beside[1]]}"
    meaning = re.sub(r" / 1e\d", "", meaning)  # the page has a unit with a prefix
    return ["... " + label.strip() if label[0] == " " else label, table, meaning]


def metric_tables() -> dict[str, Table]:
    """A table for each of them."""
    names = re.findall(r"^T\((\w+),", text_of("report_tables.def"), re.MULTILINE)
    return {
        name: Table(
            "metric_rows.def", ("row", "meaning"), (0, 2), name, made=metric_row
        )
        for name in names
    }


def page_column(item: list[str]) -> list[str]:
    """A column of a table on the page, with the meaning of the column behind it."""
    part, table, name, shown_as, heading = item[:5]
    meaning = COLUMNS[f"{name}, {table}"]
    if shown_as == "SHARE":
        meaning = f"share of the sum of all rows: {meaning}"
    return [heading, part, meaning]


def page_columns() -> dict[str, Table]:
    """A table for each of the tables of names."""
    names = re.findall(r"^T\((\w+),", text_of("page_tables.def"), re.MULTILINE)
    header = ("column", "meaning")
    return {
        name: Table("page_tables.def", header, (0, 2), name, made=page_column, kind="C")
        for name in names
    }


def titled(item: list[str]) -> list[str]:
    """A table on the page; one without a title continues the part above it."""
    return [item[1] if item[2] == "NULL" else item[2], item[8]]


def slices_only(item: list[str]) -> list[str]:
    """An item of a ladder by its kind."""
    return [item[3], item[2], item[4]]


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
    "export.md": {
        "formats": Table(
            "export_formats.def",
            ("format", "other name", "what it is"),
            (0, 1, 3),
            made=lambda item: item[1:],
        )
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
    "facility/accounting.md": {
        "account_groups": Table(
            "account_groups.def", ("table", "one row is"), (0, 1), kind="B"
        )
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
        "system": level("system"),
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
    "reading-a-summary.md": terms()
    | metric_tables()
    | page_columns()
    | {
        "slices": Table("budget_slices.def", TERM, (1, 2)),
        "ladder": Table("ladder_items.def", TERM, (0, 2), "SLICE", made=slices_only),
        "titles": Table(
            "page_tables.def", ("table", "one row is"), (0, 1), kind="T", made=titled
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
    text = text_of(table.source)
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
