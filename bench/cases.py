# SPDX-License-Identifier: BSD-3-Clause
"""The cases: each uses one path `count` times and returns the nanoseconds it took.
Those of many records are in bulk.py, those of NanoAOD events in nano.py.

Written against what roastcoffea 0.1.2 and this package share, because this very file
runs in both environments. Whatever process() returns is dropped at once, nothing grows
over a run, and the garbage collector is left as users have it.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from itertools import repeat
from typing import Any

from goals import ROWS
from roastcoffea import track_memory, track_metrics, track_time
from roastcoffea.utils import get_process_memory

clock = time.perf_counter_ns
OUTPUT_KEY = "__roastcoffea_metrics__"
SPACE_S = 0.005  # a spaced chunk sleeps so long, and so long passes before it
LASTING = {"e2", "e3", "f1", "f2", "f3", "f5"}  # in lasting.py
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
spaced_on = SpacedPlain(collect=True)
spaced_sectioned_on = SpacedSectioned(collect=True)


def a1(count: int) -> int:
    return inside(time_on, count)


def a2(count: int) -> int:
    return inside(time_off, count)


def a3(count: int) -> int:
    return calls(plain_on.process, count)


def a4(count: int) -> int:
    return calls(sectioned_on.process, count)


def a5(count: int) -> int:
    """Net of the bare call: both change places every few microseconds. The median of
    the differences, because one interruption outweighs a thousand calls."""
    decorated, bare = plain_off.process, plain_off.bare
    slices = range(max(1, count // SLICE))
    nets = [calls(decorated, SLICE) - calls(bare, SLICE) for _ in slices]
    return round(statistics.median(nets) * count / SLICE)


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


def elsewhere(name: str) -> Case:
    """A case of a module whose imports take seconds: only when it is asked for."""
    module = "lasting" if name[:2] in LASTING else "bulk"
    module = "nano" if name == "a3r" else module
    module = "dask_scheduler" if name[0] == "d" else module
    module = "dask_exit" if name[:2] == "d5" else module
    module = "leaving" if name[:2] == "g1" else module
    module = "exports" if name[:2] == "g5" else module

    def case(count: int) -> int:
        return importlib.import_module(module).CASES[name](count)

    return case


CASES: dict[str, Case] = {
    row.id: globals().get(row.id) or elsewhere(row.id) for row in ROWS
}


def measured(processor: Any) -> Any:
    """The record of one chunk, which reads like a dict."""
    return processor.process(EVENTS)[OUTPUT_KEY][0]


def check() -> None:
    """Fail unless the switch works here: a case must not measure a no-op."""
    record = measured(sectioned_on)
    names = {*record["timing"], *record["memory"]}
    if names != {"selection", "histograms", "columns"}:
        raise RuntimeError(f"sections of a measured chunk: {sorted(names)}")
    if OUTPUT_KEY in plain_off.process(EVENTS):
        raise RuntimeError("a chunk was measured while the switch was off")


def own_account(count: int, *, long: bool, pause: bool) -> dict[str, Any]:
    """What the records say the monitor itself cost, and how many had every reading.

    Only our records say so. They are read at the end, because reading takes time in
    which the next chunk would already have waited.
    """
    processor = spaced_on if long else plain_on
    records = []
    for _ in repeat(None, count):
        if pause:
            time.sleep(SPACE_S)
        records.append(measured(processor))
    complete = 0
    for record in records:
        skipped = record["unavailable"].values()
        complete += not any(why.startswith("skipped") for why in skipped)
    monitor_ns = [record["monitor_time"] * 1e9 for record in records]
    return {"count": count, "complete": complete, "monitor_ns": monitor_ns}
