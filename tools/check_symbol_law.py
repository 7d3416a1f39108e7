# SPDX-License-Identifier: BSD-3-Clause
"""Check the law of src/README.md on the symbols of object files; one line per breach.

An #include can be avoided by declaring a function by hand; a symbol cannot. A folder of
src may use the symbols of folders that check_includes.KNOWS allows; cli uses no private
ones (``roast__``).

Usage: check_symbol_law.py BUILD [ROOT], where BUILD was built by CMake without
whole-program optimisation, which leaves no symbols between objects.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from check_includes import KNOWS


def symbols(path: Path) -> tuple[set[str], set[str]]:
    """(defined, used) global symbols of an object file."""
    command = ["nm", "--extern-only", "--format=posix", str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.split()[:2] for line in output.splitlines()]
    used = {name for name, kind in rows if kind in "Uwv"}
    return {name for name, _ in rows} - used, used


def objects(build: Path, root: Path) -> Iterator[tuple[str, str, Path]]:
    """(folder, source, object file); objects of removed sources are left out."""
    for path in sorted(build.rglob("*.c.o")):
        source = path.as_posix().rpartition(".dir/")[2].removesuffix(".o")
        if path.is_relative_to(build / "cli"):
            source = f"cli/{source}"
        top, folder, *_ = source.split("/")
        if top in {"src", "cli"} and (root / source).is_file():
            yield "cli" if top == "cli" else folder, source, path


def breaches(build: Path, root: Path) -> Iterator[str]:
    """One line per use of a symbol that the law does not allow."""
    found = [
        (folder, source, *symbols(path))
        for folder, source, path in objects(build, root)
    ]
    home = {name: folder for folder, _, defined, _ in found for name in defined}
    if not home:
        yield f"{build}: no object of src; build it first"
    for folder, source, _, used in found:
        for name in sorted(used & home.keys()):
            if folder == "cli":
                allowed = not name.startswith("roast__")
            else:
                allowed = home[name] in {folder, *KNOWS.get(folder, set())}
            if not allowed:
                yield f"{source}: {name} is of {home[name]}"


if __name__ == "__main__":
    tree = Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
    lines = list(breaches(Path(sys.argv[1]).resolve(), tree))
    print("\n".join(lines) or "symbol law: kept")
    sys.exit(bool(lines))
