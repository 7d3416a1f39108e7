# SPDX-License-Identifier: BSD-3-Clause
"""Run an operation again and again while its first, second, third ... allocation fails,
once alone and once with all that follow. Run as `python nomemory.py NAME`."""

from __future__ import annotations

import _testcapi
import gc
import sys

import operations
from roastcoffea import _probe
from support import KEY

MOST = 5000  # allocations in one operation; far more than any has
FAILED = object()


def attempt(operation, start, stop):
    """What it returned, or FAILED for a MemoryError; nothing else may come out.

    The exception itself is not kept: Python has only some of them in reserve.
    """
    _testcapi.set_nomemory(start, stop)
    try:
        result = operation()
    except MemoryError:
        result = FAILED
    finally:
        _testcapi.remove_mem_hooks()
    return result


def harvest(result):
    """The result without records, and how many records there are of the operation."""
    records, _ = _probe.take_records()
    if not isinstance(result, dict):
        return result, len(records)
    carried = [record for record in result.get(KEY, []) if record != "mine"]
    plain = {key: value for key, value in result.items() if key != KEY}
    return plain, len(records) + len(carried)


def check(result, expected, counted):
    """Unharmed or MemoryError; a record that is missing is counted as an error."""
    plain, records = harvest(result)
    if result is not FAILED:
        assert plain == expected[0], (plain, expected[0])
        assert records >= expected[1] or counted, "a record is lost without trace"


def errors():
    return _probe.status()["monitor_errors"]


def sweep(operation):
    """How many allocations were made to fail."""
    expected = harvest(operation())
    in_a_row = 0
    for start in range(MOST):
        untouched = True
        for stop in (start + 1, 0):
            _probe.configure(enabled=True)
            before = errors()
            result = attempt(operation, start, stop)
            counted = errors() > before
            check(result, expected, counted)
            untouched &= result is not FAILED and not counted
            del result
        in_a_row = in_a_row + 1 if untouched else 0
        if in_a_row == 50:  # failures may also be absorbed without a trace
            return start
    raise AssertionError("the operation never ends")


def objects():
    gc.collect()
    return len(gc.get_objects())


def main(name):
    operation = operations.ALL[name]()
    sweep(operation)  # fills caches
    before = objects()
    start = sweep(operation)
    grown = objects() - before
    assert grown < 20, f"{grown} objects are left"
    print(name, start)


if __name__ == "__main__":
    main(sys.argv[1])
