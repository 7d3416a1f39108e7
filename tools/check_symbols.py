# SPDX-License-Identifier: BSD-3-Clause
"""Check what a built extension exports and needs; one line per breach.

- it exports its PyInit_ function and nothing else;
- every Python symbol it needs is in the stable ABI of Python 3.11, else the wheel only
  claims to be abi3 (the list is CPython's own, from the PyPI package abi3info);
- _probe needs the C library alone, so that it can be sent to a worker; _core, which
  reads and writes run files, SQLite too; neither needs a newer C library than
  GLIBC_FLOOR, which the README states.

Usage: check_symbols.py EXTENSION.so [README.md]
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from abi3info import DATAS, FUNCTIONS
from abi3info.models import Symbol

PYTHON_FLOOR = (3, 11)
GLIBC_FLOOR = (2, 34)  # in the README as "glibc 2.34": a test compares the two
C_LIBRARY = re.compile(r"(lib(c|m|pthread|dl|rt)|ld-linux[-\w]*)\.so\.\d+")
ALSO = {"_core": "libsqlite3.so.0"}


def run(*command: str) -> str:
    """The output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(path: Path) -> Iterator[tuple[str, str, str]]:
    """(kind, name, version) of each dynamic symbol; kind U or w is needed."""
    for line in run("nm", "-D", str(path)).splitlines():
        kind, name = line.split()[-2:]
        name, _, version = name.partition("@")
        yield kind, name, version.lstrip("@")


def in_stable_abi(name: str) -> bool:
    """Whether a Python symbol exists in the stable ABI at PYTHON_FLOOR."""
    entry = FUNCTIONS.get(Symbol(name)) or DATAS.get(Symbol(name))
    return bool(entry) and (entry.added.major, entry.added.minor) <= PYTHON_FLOOR


def glibc_needed(path: Path) -> tuple[int, int]:
    """The newest GLIBC_x.y that a needed symbol is bound to."""
    versions = [(0, 0)]
    for kind, _, version in symbols(path):
        match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
        if kind in "Uwv" and match:
            versions.append((int(match[1]), int(match[2])))
    return max(versions)


def breaches(path: Path) -> Iterator[str]:
    """One line per breach in a shared object."""
    for kind, name, _ in symbols(path):
        if kind in "Uwv":
            if name.startswith(("Py", "_Py")) and not in_stable_abi(name):
                yield f"needs {name}, which is not in the stable ABI of 3.11"
        elif not name.startswith("PyInit_"):
            yield f"exports {name}"
    for library in re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-Wd", str(path))):
        also = ALSO.get(path.name.partition(".")[0])
        if library != also and not C_LIBRARY.fullmatch(library):
            yield f"needs {library}, not only the C library"
    needed = glibc_needed(path)
    if needed > GLIBC_FLOOR:
        yield f"needs glibc {needed[0]}.{needed[1]}, the floor is {GLIBC_FLOOR}"


def readme_breach(readme: Path) -> Iterator[str]:
    """The README must state the floor."""
    floor = f"glibc {GLIBC_FLOOR[0]}.{GLIBC_FLOOR[1]}"
    if floor not in readme.read_text():
        yield f"{readme}: does not say that the wheel needs {floor}"


if __name__ == "__main__":
    extension = Path(sys.argv[1])
    lines = [f"{extension.name}: {line}" for line in breaches(extension)]
    for readme in sys.argv[2:]:
        lines += readme_breach(Path(readme))
    major, minor = glibc_needed(extension)
    print("\n".join(lines) or f"{extension.name}: needs glibc {major}.{minor}, fine")
    sys.exit(bool(lines))
