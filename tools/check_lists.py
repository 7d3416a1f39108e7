# SPDX-License-Identifier: BSD-3-Clause
"""Check that every row of a list has code behind it, and that CONTRIBUTING.md names
files that exist; one line per breach.

What the compiler cannot see: a metric, a column or a field that is in its list and that
no code sets would be absent in every run. A row counts as used if its enum constant is
mentioned, or its name in an argument of a macro that makes the constant, as in
`#define AT(name) ROAST_COL_tasks_##name`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LISTS = Path("include") / "roast"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CALL = re.compile(r"\b([A-Z]+)\(([\w, -]*)")
MAKES = re.compile(r"#define ([A-Z]+)\([^)]*\)(?:[^\n]*\\\n)*[^\n]*\b(ROAST_\w+_)##")
FILE = re.compile(r"`([\w./-]+/[\w.-]+\.\w+|[\w-]+\.md)`")


def constants(root: Path, *folders: str) -> set[str]:
    """Enum constants of ours that the code mentions."""
    found: set[str] = set()
    for folder in folders:
        for path in sorted((root / folder).rglob("*.[ch]")):
            text = COMMENT.sub("", path.read_text())
            found.update(re.findall(r"\bROAST_\w+", text))
            prefixes: dict[str, set[str]] = {}
            for macro, prefix in MAKES.findall(text):
                prefixes.setdefault(macro, set()).add(prefix)
            for macro, arguments in CALL.findall(text):
                for prefix in prefixes.get(macro, ()):
                    found.update(prefix + name for name in re.findall(r"\w+", arguments))
    return found


def rows(root: Path, name: str, pattern: str) -> list[tuple[str, ...]]:
    """What the pattern finds in the rows of a list; its groups are the arguments."""
    text = (root / LISTS / name).read_text()
    return [m.groups() for m in re.finditer(pattern, text, re.MULTILINE)]


def unused(root: Path) -> Iterator[str]:
    """Rows that no code sets."""
    analyze = constants(root, "src/analyze")
    for (name,) in rows(root, "metric_defs.def", r"^M\((\w+),"):
        if f"ROAST_METRIC_{name}" not in analyze:
            yield f"metric {name}: nothing in src/analyze sets it"
    for name, table in rows(root, "table_columns.def", r"^C\((\w+), (\w+),"):
        if f"ROAST_COL_{table}_{name}" not in analyze:
            yield f"column {name} of {table}: nothing in src/analyze fills it"
    for (name,) in rows(root, "tables.def", r"^S\((\w+),"):
        if f"ROAST_TABLE_{name}" not in analyze:
            yield f"table {name}: no formula in src/analyze makes it"
    measured = constants(root, "src/probe", "python/ext/probe")
    for (name,) in rows(root, "record_fields.def", r"^F\(\d+, (\w+),"):
        if f"ROAST_FIELD_{name}" not in measured:
            yield f"field {name}: nothing in src/probe or python/ext/probe sets it"


def missing_files(root: Path) -> Iterator[str]:
    """Files in CONTRIBUTING.md that are not there; <name> stands for any."""
    for name in FILE.findall((root / "CONTRIBUTING.md").read_text()):
        if not (root / name).exists():
            yield f"CONTRIBUTING.md names {name}, which does not exist"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    breaches = [*unused(root), *missing_files(root)]
    print("\n".join(breaches) or "lists: all rows are used")
    return int(bool(breaches))


if __name__ == "__main__":
    sys.exit(main())
