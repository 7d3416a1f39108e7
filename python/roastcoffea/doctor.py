# SPDX-License-Identifier: BSD-3-Clause
"""``python -m roastcoffea.doctor``: which packages and hooks this Python has.

Run by ``roast doctor``, which prints its own lines first. No hook is put in place.
"""

from __future__ import annotations

import contextlib
import importlib
import platform
import sys
from importlib import metadata

from roastcoffea import __version__, _probe

PACKAGES = "coffea uproot awkward numpy pyarrow dask distributed".split()
HOOKED = (  # modules with hooks
    *("coffea.processor", "coffea.nanoevents", "uproot", "uproot.models.RNTuple"),
    *("awkward", "pyarrow.parquet"),
)


def line(name: str, text: str, mark: str = "") -> str:
    """A line in the format of the program."""
    return f"  {mark:<4}{name:<27} {text}"


def version_of(package: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def hook_lines() -> list[str]:
    """How many hooks there are, and what is lost without those that are missing."""
    try:
        importlib.import_module("coffea.processor")
    except Exception as error:  # of any kind: it is foreign code
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return [line("hooks", f"coffea cannot be imported: {why}", "NO")]
    for module in HOOKED:
        with contextlib.suppress(Exception):  # then its hooks are missing
            importlib.import_module(module)
    from roastcoffea.coffea import hooks

    found = hooks.Hooks()
    found.find_all()
    rows = [row for row in _probe.hooks() if row[1] not in ("cost", "gc", "compress")]
    missing = [row for row in rows if found.missing >> row[0] & 1]
    count = f"{len(rows) - len(missing)} of {len(rows)} found"
    lines = [line("hooks", count, "NO" if missing else "yes")]
    for _, name, where, lost in missing:
        lines.append(line(f"hook {name}", f"{where}; not known: {lost}", "NO"))
    return lines


def main() -> None:
    """Print everything."""
    print(line("Python", f"{platform.python_version()}, {sys.executable}"))
    print(line("roastcoffea", __version__))
    for package in PACKAGES:
        print(line(package, version_of(package)))
    print("\n".join(hook_lines()))


if __name__ == "__main__":
    main()
