# SPDX-License-Identifier: BSD-3-Clause
"""Check that rows of lists are used and tested, and that CONTRIBUTING.md names files
that exist; one line per breach.

The compiler cannot see this: a metric, a column or a field that no code sets is absent
in every run, and only a test that expects its value proves more. A row counts as tested
if a test mentions its name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LISTS = Path("include") / "roast"
TESTS = ("tests", "python/tests")
TESTED = {  # what a row of a list is, and where its names are
    "metric": ("metric_defs.def", r"^M\((\w+),"),
    "finding": ("finding_rules.def", r"^R\((\w+),"),
    "table": ("tables.def", r"^[TS]\((\w+),"),
    "column": ("table_columns.def", r"^C\((\w+), \w+,"),
    "field": ("record_fields.def", r"^F\(\d+, (\w+),"),
}
FILE = re.compile(r"`([\w./-]+/[\w.-]+\.\w+|[\w-]+\.md)`")


def words(root: Path, *folders: str) -> set[str]:
    """All words of code and of expected output; ROAST_<LIST>_<name> is <name> too."""
    found: set[str] = set()
    for path in (p for folder in folders for p in (root / folder).rglob("*")):
        is_recipe = (root / "tests" / "recipes") in path.parents
        if path.suffix in {".c", ".h", ".py", ".txt"} and not is_recipe:
            text = path.read_text(errors="replace")
            found.update(re.findall(r"\w+", text))
            found.update(re.findall(r"\bROAST_(?:METRIC|FIELD|TABLE)_(\w+)", text))
    return found


def names(root: Path, source: str, pattern: str) -> list[str]:
    """The names in the rows of a list."""
    text = (root / LISTS / source).read_text()
    return list(dict.fromkeys(re.findall(pattern, text, re.MULTILINE)))


def untested(root: Path) -> Iterator[str]:
    """Rows that no test mentions."""
    tested = words(root, *TESTS)
    for what, (source, pattern) in TESTED.items():
        for name in names(root, source, pattern):
            if name not in tested:
                yield f"{source}: no test expects a value of the {what} {name}"


def unmeasured(root: Path) -> Iterator[str]:
    """Fields that no probe sets."""
    code = words(root, "src/probe", "python/ext/probe")
    for name in names(root, *TESTED["field"]):
        if name not in code:
            yield f"record_fields.def: nothing in src/probe sets the field {name}"


def missing_files(root: Path) -> Iterator[str]:
    """Files that CONTRIBUTING.md names and that are not there."""
    for name in FILE.findall((root / "CONTRIBUTING.md").read_text()):
        if not (root / name).exists():
            yield f"CONTRIBUTING.md names {name}, which does not exist"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    breaches = [*untested(root), *unmeasured(root), *missing_files(root)]
    print("\n".join(breaches) or "lists: all rows are used and tested")
    return int(bool(breaches))


if __name__ == "__main__":
    sys.exit(main())
