# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the formats of pyarrow: a folder with a file for each table.

``roast export`` starts this module for them, with exit codes as those of its own.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe
from roastcoffea.export.import_command import FAILED, UNREADABLE, fail, reason


def write_columns(core: _core.Run, kind: str, folder: Path) -> None:
    """Write ``parquet`` or ``arrow`` to a new folder, whole or not at all."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"{kind} needs pyarrow: pip install pyarrow") from error
    if os.path.lexists(folder):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    temporary = folder.with_name(f".{folder.name}.saving-{secrets.token_hex(8)}")
    temporary.mkdir()
    try:
        for name in _core.table_names():
            table = pyarrow.table(core.table(name))
            _write(table, kind, temporary / f"{name}.{kind}")
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write(table: Any, kind: str, path: Path) -> None:
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
        return
    from pyarrow import ipc

    with ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)


def main(arguments: list[str]) -> int:
    """``[--anonymise] -- RUN FORMAT FOLDER``: the exit code."""
    from roastcoffea.run import open_run

    given, kind, folder = arguments[-3:]
    try:
        run = open_run(given)
    except (OSError, ValueError, _probe.RoastError) as error:
        return fail(UNREADABLE, given, reason(error).removeprefix(f"{given}: "))
    try:
        run.export(kind, folder, anonymise=arguments[0] == "--anonymise")
    except (OSError, ImportError, MemoryError, _probe.RoastError) as error:
        why = getattr(error, "strerror", None) or reason(error)
        return fail(FAILED, folder, f"{why}; nothing was written")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
