# SPDX-License-Identifier: BSD-3-Clause
"""Check that files and C functions stay small; one line per breach.

Functions are found by the one habit that all our C follows: the opening brace of a
function stands alone in the first column, and so does the closing one. `--stats` adds
the numbers that style.md states aims for.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FUNCTION_LINES = 100
PARAMETERS = 5  # a warning only: a callback's signature is not ours to choose
FILE_LINES = {".c": 700, ".py": 700}
PRIVATE_HEADER_LINES = 100
PUBLIC_HEADER_LINES = 250
FOLDERS = "include src cli python tests bench examples tools".split()


class Function(NamedTuple):
    """One C function: its name, first line, length and number of parameters."""

    name: str
    line: int
    lines: int
    parameters: int


def count_parameters(signature: str) -> int:
    """How many parameters a function has; commas inside brackets do not count."""
    text = signature[signature.index("(") + 1 : signature.rindex(")")]
    while re.search(r"\([^()]*\)|\[[^][]*\]", text):  # a parameter may hold some itself
        text = re.sub(r"\([^()]*\)|\[[^][]*\]", "", text)
    return 0 if text.strip() in {"", "void"} else text.count(",") + 1


def head_of(lines: list[str], brace: int) -> int:
    """Index of the first line of the signature that ends above lines[brace]."""
    first = brace
    while first > 0:
        above = lines[first - 1].rstrip()
        if not above or above[0] in "#}/" or above.endswith((";", "}", "*/", "\\")):
            break
        first -= 1
    return first


def functions(text: str) -> Iterator[Function]:
    """Every function defined in a C file."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if line.rstrip() != "{":
            continue
        head = head_of(lines, index)
        signature = " ".join(lines[head:index])
        name = re.search(r"(\w+)\s*\(", signature)
        if not name:
            continue
        end = index
        while end + 1 < len(lines) and not lines[end].startswith("}"):
            end += 1
        parameters = count_parameters(signature)
        yield Function(name[1], head + 1, end - head + 1, parameters)


def files(root: Path) -> Iterator[Path]:
    """Every C and Python file of ours."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".c", ".h", ".py"} and path.is_file():
                yield path


def limit_of(path: Path, root: Path) -> int:
    """How many lines a file may have."""
    if path.suffix != ".h":
        return FILE_LINES[path.suffix]
    public = (root / "include") in path.parents
    return PUBLIC_HEADER_LINES if public else PRIVATE_HEADER_LINES


def check(path: Path, root: Path) -> tuple[list[str], list[str]]:
    """Breaches and warnings of one file."""
    text = path.read_text()
    where = path.relative_to(root)
    breaches, warnings = [], []
    lines, limit = len(text.splitlines()), limit_of(path, root)
    if lines > limit:
        breaches.append(f"{where}: {lines} lines, at most {limit}")
    for func in functions(text) if path.suffix in {".c", ".h"} else ():
        at = f"{where}:{func.line}: {func.name}()"
        if func.lines > FUNCTION_LINES:
            breaches.append(f"{at} has {func.lines} lines, at most {FUNCTION_LINES}")
        if func.parameters > PARAMETERS:
            warnings.append(f"{at} has {func.parameters} parameters, aim {PARAMETERS}")
    return breaches, warnings


def spread(name: str, values: list[int]) -> str:
    """One line of statistics."""
    if len(values) < 2:
        return f"{name}: {len(values)}"
    p90 = statistics.quantiles(values, n=10, method="inclusive")[-1]
    middle, largest = statistics.median(values), max(values)
    return f"{name}: {len(values)}, median {middle:.0f}, p90 {p90:.0f}, max {largest}"


def stats(root: Path) -> Iterator[str]:
    """The numbers of style.md for what ships (tests and tools left out)."""
    shipped = [p for p in files(root) if "tests" not in p.relative_to(root).parts]
    sources = [p for p in shipped if p.suffix == ".c"]
    texts = [p.read_text() for p in sources]
    yield spread("C functions, lines", [f.lines for t in texts for f in functions(t)])
    yield spread("C files, lines", [len(t.splitlines()) for t in texts])
    glue = [p for p in shipped if p.suffix == ".py" and (root / "python") in p.parents]
    glue_lines = sum(len(p.read_text().splitlines()) for p in glue)
    c_lines = sum(len(t.splitlines()) for t in texts)
    percent = 100 * glue_lines / max(c_lines, 1)
    yield f"Python glue: {glue_lines} lines, {percent:.0f} % of C"


def main(arguments: list[str]) -> int:
    """Print what was found; 1 if anything is too large."""
    paths = [a for a in arguments if not a.startswith("-")]
    root = Path(paths[0] if paths else ".").resolve()
    results = [check(path, root) for path in files(root)]
    breaches = [line for found, _ in results for line in found]
    for _, warnings in results:
        for line in warnings:
            print(f"warning: {line}")
    if "--stats" in arguments:
        print("\n".join(stats(root)))
    print("\n".join(breaches) or "sizes: within limits")
    return int(bool(breaches))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
