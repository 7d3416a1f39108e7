# SPDX-License-Identifier: BSD-3-Clause
"""Python runs out of memory at every single allocation of every entry point: no crash,
and process() gives its result or MemoryError. In interpreters of their own, so that a
crash is a failed test."""

from __future__ import annotations

import pytest

import operations
from support import run_python

pytest.importorskip("_testcapi", reason="this Python is built without its test modules")

# Python itself does not survive these: `raise` inside `with`, compiling (3.11), making
# functions (3.12).
NOT_OURS = {"chunk_that_fails", "names_unpickled", "decorating"}


@pytest.mark.parametrize("name", [n for n in operations.ALL if n not in NOT_OURS])
def test_entry_point_survives_every_failed_allocation(name):
    output = run_python("import sys, nomemory; nomemory.main(sys.argv[1])", name)
    assert output.split()[0] == name


def test_waiting_records_are_not_lost_by_failed_allocations():
    """They are still there, or counted as dropped."""
    script = """
        import nomemory
        from roastcoffea import _probe
        from support import Events, make_processor

        analysis = make_processor(lambda *_: None)
        for start in range(60):
            for stop in (start + 1, 0):
                _probe.take_records()
                for _ in range(3):
                    analysis.process(Events())
                first = nomemory.attempt(_probe.take_records, start, stop)
                taken = 0 if first is nomemory.FAILED else len(first[0]) + first[1]
                records, dropped = _probe.take_records()
                lost = 3 - taken - len(records) - dropped
                assert lost == 0, f"{lost} records are lost without trace at {start}"
    """
    run_python(script)
