# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the formats of pyarrow: a folder with a file for each table.

Large tables are made and written in parts, so that a million chunks fit into memory.
``roast export`` starts this module for them, with exit codes as those of its own.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe
from roastcoffea.export.import_command import FAILED, UNREADABLE, fail, reason

PART_ROWS = 1 << 15


def write_columns(core: _core.Run, kind: str, folder: Path) -> None:
    """Write ``parquet`` or ``arrow`` to a new folder, whole or not at all."""
    try:
        import pyarrow  # noqa: F401 - before a folder is made
    except ImportError as error:
        raise ImportError(f"{kind} needs pyarrow: pip install pyarrow") from error
    if os.path.lexists(folder):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    temporary = folder.with_name(f".{folder.name}.saving-{secrets.token_hex(8)}")
    temporary.mkdir()
    try:
        write = _write_parquet if kind == "parquet" else _write_arrow
        for name in _core.table_names():
            write(core, name, temporary / f"{name}.{kind}")
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_parquet(core: _core.Run, name: str, path: Path) -> None:
    """A part is a row group."""
    import pyarrow
    from pyarrow import parquet

    with ExitStack() as stack:
        writer: Any = None

        def take(part: _core.Table) -> None:
            nonlocal writer
            table = pyarrow.table(part)
            if writer is None:
                made = parquet.ParquetWriter(path, table.schema)
                writer = stack.enter_context(made)
            writer.write_table(table, row_group_size=PART_ROWS)

        core.table_parts(name, PART_ROWS, take)


def _write_arrow(core: _core.Run, name: str, path: Path) -> None:
    """A file has one dictionary for each column, and a part the texts up to its end: so
    the table is made twice, and the first time only its texts are kept."""
    import pyarrow
    from pyarrow import ipc

    last: Any = None

    def keep(part: _core.Table) -> None:
        nonlocal last
        last = pyarrow.table(part)

    core.table_parts(name, PART_ROWS, keep)
    schema = last.schema
    texts = {
        at: column.chunk(0).dictionary
        for at, column in enumerate(last.columns)
        if pyarrow.types.is_dictionary(column.type)
    }
    with ipc.new_file(str(path), schema) as file:

        def take(part: _core.Table) -> None:
            for batch in pyarrow.table(part).to_batches():
                columns = batch.columns
                for at, words in texts.items():
                    indices = columns[at].indices
                    columns[at] = pyarrow.DictionaryArray.from_arrays(indices, words)
                file.write_batch(pyarrow.record_batch(columns, schema=schema))

        core.table_parts(name, PART_ROWS, take)


def main(arguments: list[str]) -> int:
    """``[--anonymise] -- RUN FORMAT FOLDER``: the exit code."""
    from roastcoffea.run import open_run

    given, kind, folder = arguments[-3:]
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # it keeps the least
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
