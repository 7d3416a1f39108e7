# SPDX-License-Identifier: BSD-3-Clause
"""Tables give their values or MemoryError, whichever allocation of Python's fails."""

from __future__ import annotations

import pytest

from support import run_python

pytest.importorskip("_testcapi", reason="this Python is built without its test modules")

SCRIPT = """
import sys

import nomemory
from roastcoffea import _core
from tables import mixed_run

run = mixed_run()
table = run.table("chunks")
text, number = table["file"], table["duration"]
kinds = _core.Table, _core.Column
calls = {
    "table": lambda: len(run.table("chunks")),
    "samples": lambda: len(run.samples("memory")),
    "names": lambda: (table.names, list(table), table.keys()),
    "columns": lambda: [column.name for column in table.columns],
    "to_dict": table.to_dict,
    "rows": table.rows,
    "column": lambda: (list(text), text[1:], text[0], number.to_list(), repr(text)),
    "words": lambda: (table["file"].words, text.ids.tolist(), number.valid),
    "arrow": lambda: type(table.__arrow_c_stream__()),
    "schema": lambda: type(table.__arrow_c_schema__()),
}


def sweep(call):
    expected = call()
    in_a_row = 0
    for first in range(nomemory.MOST):
        results = [nomemory.attempt(call, first, last) for last in (first + 1, 0)]
        for result in results:
            assert result is nomemory.FAILED or result == expected
        in_a_row = 0 if nomemory.FAILED in results else in_a_row + 1
        if in_a_row == 20:
            return first
    raise AssertionError("it never ends")


for name, call in calls.items():
    call()
    before = [sys.getrefcount(kind) for kind in kinds], nomemory.objects()
    swept = sweep(call)
    assert [sys.getrefcount(kind) for kind in kinds] == before[0], name
    assert nomemory.objects() <= before[1] + 3, name
    print(name, swept, sep=": ")
"""


def test_tables_survive_every_failed_allocation() -> None:
    lines = run_python(SCRIPT).splitlines()
    assert len(lines) == 10
    assert all(int(line.split(": ")[1]) >= 20 for line in lines)
