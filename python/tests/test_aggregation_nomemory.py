# SPDX-License-Identifier: BSD-3-Clause
"""The formulas give their result or MemoryError, whichever allocation fails."""

from __future__ import annotations

import pytest

from support import run_python

pytest.importorskip("_testcapi", reason="this Python is built without its test modules")

SCRIPT = """
import gc
import sys

import nomemory
from roastcoffea import _core

value = 123456.789
chunks = [{"duration": value, "dataset": name} for name in "abcdefghijk"]
times = [0.0, 1.0, value]
integers = [2**70, 3, 2**70]
known = {"wall_time": value, "total_events": 2**70, "total_cpu_time": value,
         "total_cores": 3, "num_chunks": 4, "total_bytes_read": None}
calls = {
    "statistics": lambda: _core.statistics(times),
    "integers": lambda: _core.statistics(integers),
    "average": lambda: _core.time_average(times, integers),
    "derived": lambda: _core.derive_metrics(known),
    "names": lambda: (_core.series_value_keys(), _core.table_titles()),
}


def sweep(call):
    expected = call()
    in_a_row = 0
    for first in range(nomemory.MOST):
        results = [nomemory.attempt(call, first, last) for last in (first + 1, 0)]
        for result in results:
            assert result is nomemory.FAILED or result == expected
        failed = nomemory.FAILED in results
        in_a_row = 0 if failed else in_a_row + 1
        if in_a_row == 20:
            return first
    raise AssertionError("it never ends")


for name, call in calls.items():
    call()
    before = sys.getrefcount(value), nomemory.objects()
    swept = sweep(call)
    assert sys.getrefcount(value) == before[0], name
    assert nomemory.objects() <= before[1] + 3, name
    print(name, swept)
"""


def test_formulas_survive_every_failed_allocation() -> None:
    lines = run_python(SCRIPT).splitlines()
    assert len(lines) == 5
    assert all(int(line.split()[1]) >= 20 for line in lines)
