# SPDX-License-Identifier: BSD-3-Clause
"""``roast import``: the program starts Python for it. Messages and exit codes are as
those of the other commands."""

from __future__ import annotations

import argparse
import os
import stat
import sys

from roastcoffea import _core, _probe
from roastcoffea.export.importer import import_measurement

UNREADABLE, FAILED = 3, 4  # exit codes of roast


def main(arguments: list[str]) -> int:
    """``roast import``: the exit code."""
    parser = argparse.ArgumentParser(
        prog="roast import", description="Make a run file of a measurement directory."
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it")
    parser.add_argument("directory", metavar="DIR")
    options = parser.parse_args(arguments)
    given, target = options.directory, options.output
    try:
        is_folder = stat.S_ISDIR(os.stat(given).st_mode)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return fail(UNREADABLE, given, f"{why}; is the path right?")
    if not is_folder:
        is_run = given.endswith((".roast", _core.LIVE_SUFFIX))
        why = "a run file already: nothing to import"
        return fail(
            UNREADABLE, given, why if is_run else "a file; a measurement is a directory"
        )
    beside = f"{given}/{_core.RUN_NAME}"
    if target is None and os.path.isfile(beside):
        return fail(0, "import", f"{beside} is there already: nothing to import")
    if target is None:
        folder = given.rstrip("/") or "/"
        name = os.path.basename(folder)
        name = "run" if not name or name.startswith(".") else name
        target = f"{folder}/{name}.roast"
    try:
        run = import_measurement(given)
    except (OSError, _probe.RoastError) as error:
        why = f"{reason(error)}; is it a measurement directory?"
        return fail(UNREADABLE, given, why)
    try:
        run._core.save(target)
    except (OSError, _probe.RoastError, MemoryError) as error:
        why = reason(error).removeprefix(f"{target}: ")
        return fail(FAILED, target, f"{why}; -o writes it elsewhere")
    try:
        print(printable(target), flush=True)
    except OSError as error:
        return fail(FAILED, "standard output", reason(error))
    return 0


def reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        named = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{named}"
    return str(error) or type(error).__name__


def printable(text: str) -> str:
    """Text from data, without what a terminal acts on."""
    return "".join(c if c.isprintable() else "?" for c in text)


def fail(code: int, subject: str, why: str) -> int:
    print(printable(f"roast: {subject}: {why}"), file=sys.stderr)
    return code
