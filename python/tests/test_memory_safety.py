# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of calls of each entry point leave no reference, object or memory."""

from __future__ import annotations

import gc
import sys

import pytest

import operations
from roastcoffea import _probe, track_time
from support import MIB, SANITIZED, Events, make_processor, measure, rss_bytes, waiting

CALLS = 1_000 if SANITIZED else 5_000
CONSTANTS = [None, True, False, (), ""]
SLACK = 20  # caches of the interpreter may fill; a leak would show CALLS times
TRIES = 3  # threads of others may free or make something; a leak would show every time


def closure_of(function, seen):
    """The objects a function works on: what its closure holds, and so on inwards."""
    for cell in getattr(function, "__closure__", None) or ():
        value = cell.cell_contents
        if id(value) not in seen:
            seen[id(value)] = value
            closure_of(value, seen)
            for attribute in vars(value).values() if hasattr(value, "__dict__") else ():
                seen.setdefault(id(attribute), attribute)
    return seen


def our_types():
    """Types that live on the heap and are counted like objects."""
    kept = []
    record = measure(lambda self, events: kept.append(track_time(self, "x")))
    null = track_time(None, "x")
    return [
        type(record),
        type(kept[0]),
        type(null),
        type(_probe.user_functions),
        _probe.user_functions,
    ]


def is_immortal(thing):
    """From 3.12 on, constants and others are, and their count means nothing."""
    return sys.version_info >= (3, 12) and sys.getrefcount(thing) > 2**31


def counts(watched):
    gc.collect()
    references = {f"{type(o).__name__} {n}": sys.getrefcount(o) for n, o in watched}
    return references | {"objects": len(gc.get_objects())}


def repeat(operation, calls):
    for n in range(calls):
        operation()
        if n % 100 == 99:
            waiting()
    waiting()


def changes(operation, watched):
    """What is more or less than before, after many calls."""
    before, blocks, rss = counts(watched), sys.getallocatedblocks(), rss_bytes()
    repeat(operation, CALLS)
    after = counts(watched)
    changed = {
        key: after[key] - before[key]
        for key in before
        if abs(after[key] - before[key]) > SLACK
    }
    if sys.getallocatedblocks() - blocks >= CALLS / 10:
        changed["blocks"] = sys.getallocatedblocks() - blocks
    if not SANITIZED and rss_bytes() - rss >= 2 * MIB:
        changed["memory"] = rss_bytes() - rss
    return changed


@pytest.mark.parametrize("name", operations.ALL)
def test_entry_point_leaves_nothing_behind(name):
    operation = operations.ALL[name]()
    inside = closure_of(operation, {}).values()
    objects = [operation, *inside, *our_types(), *CONSTANTS]
    watched = [(n, o) for n, o in enumerate(objects) if not is_immortal(o)]
    repeat(operation, 300)
    for _ in range(TRIES):
        changed = changes(operation, watched)
        if not changed:
            break
    assert changed == {}


def test_objects_of_a_chunk_are_free_after_it():
    class Value:
        freed = 0

        def __del__(self):
            Value.freed += 1

    def process(self, events):
        self._roastcoffea_current_chunk["value"] = Value()
        with track_time(self, "x"):
            return {"value": Value()}

    events = Events()
    events.metadata["value"] = Value()
    output = make_processor(process).process(events)
    assert Value.freed == 1
    del output, events
    gc.collect()
    assert Value.freed == 3


def test_classes_of_processors_can_be_freed():
    """All but the last one, which the monitor remembers."""
    import weakref

    classes = []
    for _ in range(5):
        analysis = make_processor(lambda *_: {})
        analysis.process(Events())
        classes.append(weakref.ref(type(analysis)))
    del analysis
    gc.collect()
    assert sum(reference() is not None for reference in classes) <= 1


def test_cycle_through_a_chunk_is_collected():
    freed = []

    class Value:
        def __del__(self):
            freed.append(1)

    def process(self, events):
        value = Value()
        value.chunk = self._roastcoffea_current_chunk
        value.section = track_time(self, "x")
        value.chunk["value"] = value
        return {}

    make_processor(process).process(Events())
    gc.collect()
    assert freed == [1]
