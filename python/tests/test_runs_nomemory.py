# SPDX-License-Identifier: BSD-3-Clause
"""Runs and their files give their result or MemoryError, whichever of Python's
allocations fails. Those of libroast fail in the tests in C."""

from __future__ import annotations

import pytest

from support import run_python

pytest.importorskip("_testcapi", reason="this Python is built without its test modules")

SCRIPT = """
import os
import sys

import nomemory
from handmade_frames import a_frame_with_a_ladder
from roastcoffea import _core

folder = sys.argv[2]
path = os.path.join(folder, "x.roast")
text = "a text of some length, é"


def new():
    run = _core.Run(0, 10**18, "host")
    run.add_frames(a_frame_with_a_ladder(), True)
    for name in "abcdefgh":
        run.set_note("label", name, text)
    run.finish(10**9)
    return run


def save():
    run.save(path, True)


def opened(what):
    def call():
        return what(_core.open_run(path))

    return call


run = new()
save()
other = _core.open_run(path)
calls = {
    "set_note": lambda: run.set_note("label", "a", text),
    "note": lambda: run.note("label", "b"),
    "long note": lambda: run.note("document", "long"),
    "notes": lambda: run.notes("label"),
    "span": run.span,
    "info": other.info,
    "save": save,
    "failed": lambda: run.failed_fileset(0, False),
    "failed items": lambda: run.failed_items(0),
    "open": opened(_core.Run.info),
    "load": opened(_core.Run.chunks),
    "page": opened(lambda run: run.page("text")),
    "metrics": opened(lambda run: len(run.metrics())),
    "redact": lambda: (_core.redact(text), _core.redact_name(text, bytes(16))),
    "secret": lambda: _core.is_secret(text, text),
}
run.set_note("document", "long", "x" * 10_000)
run.set_note("call", "1 call", "processor\\tA")
run.set_note("call", "1 items", "dataset\\td\\nfile\\tf\\t\\nitems\\t0 10 3")


def sweep(call):
    expected, in_a_row = call(), 0
    for first in range(nomemory.MOST):
        results = [nomemory.attempt(call, first, last) for last in (first + 1, 0)]
        for result in results:
            assert result is nomemory.FAILED or result == expected, result
        failed = any(result is nomemory.FAILED for result in results)
        in_a_row = 0 if failed else in_a_row + 1
        if in_a_row == 20:
            return first
    raise AssertionError("the call never ends")


print(sweep(calls[sys.argv[1]]))
"""
CALLS = (
    *("set_note", "note", "long note", "notes", "span", "info", "save", "failed"),
    "failed items",
    *("open", "load", "page", "metrics", "redact", "secret"),
)


@pytest.mark.parametrize("call", CALLS)
def test_out_of_memory_gives_the_result_or_memory_error(call, tmp_path):
    assert int(run_python(SCRIPT, call, tmp_path).split()[-1]) >= 19
