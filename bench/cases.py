# SPDX-License-Identifier: BSD-3-Clause
"""The cases: each uses one path `count` times and returns the nanoseconds it took.

Written against what roastcoffea 0.1.2 and this package share, because this very file
runs in both environments. Whatever process() returns is dropped at once, nothing grows
over a run, and the garbage collector is left as users have it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import repeat
from typing import Any

from roastcoffea import track_memory, track_metrics, track_time
from roastcoffea.utils import get_process_memory

clock = time.perf_counter_ns
OUTPUT_KEY = "__roastcoffea_metrics__"
SPACE_S = 0.005  # a spaced chunk sleeps so long, and so long passes before it
SLICE = 200  # calls between two changes of sides in a5


class Events:
    """As little as coffea's events say of themselves: metadata and a length."""

    def __init__(self) -> None:
        self.metadata = {
            "dataset": "ttbar",
            "filename": "root://host.example//store/nano/ttbar_0001.root",
            "treename": "Events",
            "entrystart": 100_000,
            "entrystop": 200_000,
            "fileuuid": "00010203-0405-0607-0809-0a0b0c0d0e0f",
        }

    def __len__(self) -> int:
        return 100_000


EVENTS = Events()


class Processor:
    """A processor with its switch set, as a collector sets it."""

    def __init__(self, *, collect: bool) -> None:
        self._roastcoffea_collect_metrics = collect
        self.count = 0
        self.inner_ns = 0


class TimeLoop(Processor):
    """Many time sections inside one chunk."""

    @track_metrics
    def process(self, events: Events) -> dict[str, int]:
        start = clock()
        for _ in repeat(None, self.count):
            with track_time(self, "x"):
                pass
        self.inner_ns = clock() - start
        return {"n": len(events)}


class MemoryLoop(Processor):
    """Many memory sections inside one chunk."""

    @track_metrics
    def process(self, events: Events) -> dict[str, int]:
        start = clock()
        for _ in repeat(None, self.count):
            with track_memory(self, "x"):
                pass
        self.inner_ns = clock() - start
        return {"n": len(events)}


class Plain(Processor):
    """A chunk that does nothing, decorated and not."""

    @track_metrics
    def process(self, events: Events) -> dict[str, int]:
        return {"n": 1}

    def bare(self, events: Events) -> dict[str, int]:
        return {"n": 1}


class Sectioned(Processor):
    """A chunk of three sections."""

    @track_metrics
    def process(self, events: Events) -> dict[str, int]:
        with track_time(self, "selection"):
            pass
        with track_time(self, "histograms"):
            pass
        with track_memory(self, "columns"):
            pass
        return {"n": 1}


class SpacedPlain(Processor):
    """A chunk long enough for every reading; knows its own time."""

    @track_metrics
    def process(self, events: Events) -> dict[str, int]:
        start = clock()
        time.sleep(SPACE_S)
        self.inner_ns = clock() - start
        return {"n": 1}


class SpacedSectioned(Processor):
    """The same with three sections, which do not count as its own time."""

    @track_metrics
    def process(self, events: Events) -> dict[str, int]:
        with track_time(self, "selection"):
            pass
        with track_time(self, "histograms"):
            pass
        with track_memory(self, "columns"):
            pass
        start = clock()
        time.sleep(SPACE_S)
        self.inner_ns = clock() - start
        return {"n": 1}


def calls(function: Callable[[Any], Any], count: int) -> int:
    start = clock()
    for _ in repeat(None, count):
        function(EVENTS)
    return clock() - start


def inside(processor: Any, count: int) -> int:
    """What the loop inside one chunk took."""
    processor.count = count
    processor.process(EVENTS)
    return int(processor.inner_ns)


def around(processor: Any, count: int) -> int:
    """What chunks took beyond their own time, each of them after a pause."""
    total_ns = 0
    for _ in repeat(None, count):
        time.sleep(SPACE_S)
        total_ns += calls(processor.process, 1) - processor.inner_ns
    return total_ns


time_on, time_off = TimeLoop(collect=True), TimeLoop(collect=False)
memory_on = MemoryLoop(collect=True)
plain_on, plain_off = Plain(collect=True), Plain(collect=False)
sectioned_on = Sectioned(collect=True)
spaced_on, spaced_sectioned_on = SpacedPlain(collect=True), SpacedSectioned(collect=True)


def a1(count: int) -> int:
    return inside(time_on, count)


def a2(count: int) -> int:
    return inside(time_off, count)


def a3(count: int) -> int:
    return calls(plain_on.process, count)


def a4(count: int) -> int:
    return calls(sectioned_on.process, count)


def a5(count: int) -> int:
    """Net of the bare call: both change places every few microseconds."""
    decorated, bare = plain_off.process, plain_off.bare
    net_ns = 0
    for done in range(0, count, SLICE):
        part = min(SLICE, count - done)
        net_ns += calls(decorated, part) - calls(bare, part)
    return net_ns


def b1(count: int) -> int:
    start = clock()
    for _ in repeat(None, count):
        get_process_memory()
    return clock() - start


def b2(count: int) -> int:
    return inside(memory_on, count)


def a3s(count: int) -> int:
    return around(spaced_on, count)


def a4s(count: int) -> int:
    return around(spaced_sectioned_on, count)


Case = Callable[[int], int]
CASES: dict[str, Case] = {
    case.__name__: case for case in (a1, a2, a3, a4, a5, b1, b2, a3s, a4s)
}


def check() -> None:
    """Fail unless the switch works here: a case must not measure a no-op."""
    record = sectioned_on.process(EVENTS)[OUTPUT_KEY][0]
    names = {*record["timing"], *record["memory"]}
    if names != {"selection", "histograms", "columns"}:
        raise RuntimeError(f"sections of a measured chunk: {sorted(names)}")
    if OUTPUT_KEY in plain_off.process(EVENTS):
        raise RuntimeError("a chunk was measured while the switch was off")


def own_account(count: int, *, spaced: bool) -> dict[str, Any]:
    """What the records say the monitor itself cost, and how many had every reading.

    Only our records say so; `monitor_ns` stays empty elsewhere.
    """
    processor = spaced_on if spaced else plain_on
    monitor_ns = []
    complete = 0
    for _ in repeat(None, count):
        time.sleep(SPACE_S if spaced else 0)
        record = processor.process(EVENTS)[OUTPUT_KEY][0]
        if "monitor_time" in record:
            monitor_ns.append(record["monitor_time"] * 1e9)
        skipped = record.get("unavailable", {}).values()
        complete += not any(why.startswith("skipped") for why in skipped)
    return {"count": count, "complete": complete, "monitor_ns": monitor_ns}
