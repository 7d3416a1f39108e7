# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/format.md from the lists they describe.

    python tools/format_tables.py           rewrite the tables
    python tools/format_tables.py --check   exit 1 when they are out of date

The lists are the .def files of include/roast: one row of a list, one row of a table,
between `<!-- NAME -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "format.md"
ROW = re.compile(r'^[A-Z]\((.*?),\s*"((?:[^"\\]|\\.)*)"\)$', re.MULTILINE)

# name in the document: list, header of the table, column of each argument
TABLES = {
    "fields": ("record_fields.def", ("number", "name", "type", "unit", "meaning")),
    "losses": ("losses.def", ("number", "name", "meaning")),
    "reasons": ("reasons.def", ("number", "name", "shown as")),
    "status": ("status.def", ("name", "value", "meaning")),
}


def table(source: str, header: tuple[str, ...]) -> str:
    """A list as a markdown table."""
    text = (ROOT / "include" / "roast" / source).read_text()
    rows = [
        [*(part.strip() for part in arguments.split(",")), meaning.replace('\\"', '"')]
        for arguments, meaning in ROW.findall(text)
    ]
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def with_tables(document: str) -> str:
    """The document with every table made anew."""
    for name, (source, header) in TABLES.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, _, rest = document.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"{DOCUMENT.name}: no place for the table {name!r}")
        document = f"{before}{start}\n{table(source, header)}\n{end}{after}"
    return document


def main() -> int:
    old = DOCUMENT.read_text()
    new = with_tables(old)
    if "--check" in sys.argv[1:]:
        if old != new:
            print(f"{DOCUMENT.name} is out of date: run tools/format_tables.py")
        return int(old != new)
    DOCUMENT.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
