# SPDX-License-Identifier: BSD-3-Clause
"""The front functions give their result or MemoryError, whichever allocation fails."""

from __future__ import annotations

import pytest

from support import run_python

pytest.importorskip("_testcapi", reason="this Python is built without its test modules")

SCRIPT = """
import gc
import sys
from datetime import datetime, timedelta

import nomemory
from roastcoffea import _core

value = 123456.789
start = datetime(2025, 1, 1)
times = [start + timedelta(seconds=n) for n in range(3)]
chunks = [
    {"duration": value, "mem_delta_mb": value, "num_events": 5, "dataset": name,
     "file": name, "entry_start": 0, "entry_stop": 5, "t_start": 1.0, "t_end": value,
     "bytes_read": 7, "accessed_branches": ["a", name], "bytes_read_percent": value,
     "file_metadata": {"filename": name, "compression_ratio": value}}
    for name in "abcdefghijk"
]
sections = [{"name": n, "type": "memory", "mem_delta_mb": value} for n in "abcdefghijk"]
report = {"bytesread": 10**20, "entries": value, "processtime": value, "chunks": 3}
datasets = {"d": {"entries": 5, "duration": value,
                  "performance_counters": {"num_requested_bytes": 2**70}}}
spans = {("execute", "p", "thread-cpu", "seconds"): value,
         ("execute", "q", "memory-read", "bytes"): 2**70}
tracking = {"worker_counts": dict.fromkeys(times, value),
            "worker_memory": {"w": [(time, value) for time in times]},
            "worker_cores": {"w": [(times[0], value)]}}
calls = {
    "workflow": lambda: _core.workflow_metrics(report, 0.0, value),
    "custom": lambda: _core.workflow_metrics(report, 0.0, value, datasets),
    "efficiency": lambda: _core.efficiency_metrics({}, {"total_cores": value}),
    "chunks": lambda: _core.chunk_metrics(chunks, sections),
    "info": lambda: _core.chunk_info(chunks),
    "branches": lambda: _core.accessed_branches(["a-data", "b-data", "c"]),
    "coverage": lambda: _core.branch_coverage(chunks, report),
    "fine": lambda: _core.fine_metrics(spans, "p"),
    "workers": lambda: _core.worker_metrics(tracking),
    "json": lambda: _core.json_text([chunks, "é\\n https://u:p@h/", 2**62], 0, {}),
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


def test_front_functions_survive_every_failed_allocation() -> None:
    lines = run_python(SCRIPT).splitlines()
    assert len(lines) == 11
    assert all(int(line.split()[1]) >= 20 for line in lines)
