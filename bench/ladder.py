# SPDX-License-Identifier: BSD-3-Clause
"""a6: what looking into a chunk costs, with everything armed. There is no reference.

    python ladder.py PAIRS MOST    prints one JSON object

The same chunk of 1500 branches runs through coffea's own work function and through
ours around it, again and again in one process, with 20 columns read and then with all.
Two answers each: calls through hooks times the cost of one, as the records say, and CPU
seconds with and without. A process of its own, so that no other case's objects are
there for the garbage collector, which is left on.
"""

from __future__ import annotations

import functools
import gc
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import awkward as ak
from coffea.nanoevents import NanoAODSchema
from coffea.processor import IterativeExecutor, ProcessorABC, Runner

from nano import TREE, nano_file
from roastcoffea import _probe
from roastcoffea.adapters.work_function import Token, WorkFunction, receivers

RUN_ID = bytes(range(1, 17))
WITNESSES = ("hook_calls", "hook_cost", "task_time")
CONFIDENCE = 0.95
WIDTH = 2.0  # percent: while the interval is wider, more pairs are worth their time
COLUMNS = {
    "Jet": "pt eta phi mass btagDeepFlavB",
    "Muon": "pt eta phi mass charge",
    "Electron": "pt eta phi mass charge",
    "GenPart": "pt eta phi mass pdgId",
}


class Columns(ProcessorABC):  # type: ignore[misc]
    """An analysis that reads 20 columns, undecorated."""

    def process(self, events: Any) -> dict[str, float]:
        total = 0.0
        for collection, names in COLUMNS.items():
            for name in names.split():
                total += float(ak.sum(events[collection][name]))
        return {"total": total}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Everything(Columns):
    """One that reads all there is."""

    def process(self, events: Any) -> dict[str, float]:
        return {"n": len(ak.materialize(events))}


PROCESSORS = {"20 columns": Columns, "every column": Everything}


class Chunk:
    """One chunk as coffea's Runner has it worked on, with hooks and without."""

    def __init__(self, processor: ProcessorABC) -> None:
        executor = IterativeExecutor(status=False)
        runner = Runner(
            executor, pre_executor=executor, schema=NanoAODSchema, savemetrics=True
        )
        fileset = {"ttbar": {"files": {str(nano_file()): TREE}}}
        (self.item,) = runner.preprocess(fileset)
        self.head = (
            runner.format,
            runner.xrootdtimeout,
            runner.schema,
            runner.use_dataframes,
            runner.savemetrics,
        )
        self.options = {
            "processor_instance": processor,
            "uproot_options": {},
            "iteritems_options": {},
            "checkpointer": None,
            "cache_function": functools.partial(runner.get_cache, runner.cachestrategy),
        }
        token = Token(RUN_ID, _probe.process_id(), (), unpack=False)
        self.plain = runner._work_function
        self.armed = WorkFunction(self.plain, token)

    def cpu_s(self, work: Callable[..., Any]) -> float:
        """Each call meets the garbage collector in the same state."""
        gc.collect()
        start = time.process_time()
        work(*self.head, self.item, **self.options)
        return time.process_time() - start


def witness(frames: list[bytes]) -> dict[str, float]:
    """What the record of the attempt says of the hooks, all of which must be there."""
    for record in _probe.read_frames(b"".join(frames)):
        if record.get("hook_calls") and not record["ladder"]["unnamed"]:
            return {key: record[key] for key in WITNESSES}
    raise RuntimeError("the chunk was not looked into, or with hooks missing")


def median_interval(values: list[float]) -> tuple[float, float]:
    """The binomial interval of the median: no more than so many values on one side."""
    count, outside, cut = len(values), 0.0, 0
    while outside + math.comb(count, cut) / 2**count <= (1 - CONFIDENCE) / 2:
        outside += math.comb(count, cut) / 2**count
        cut += 1
    ordered = sorted(values)
    at = max(cut - 1, 0)
    return ordered[at], ordered[-1 - at]


class Pairs:
    """The chunk with hooks and without, in turns."""

    def __init__(self, processor: ProcessorABC) -> None:
        self.chunk = Chunk(processor)
        self.plain: list[float] = []  # CPU seconds
        self.armed: list[float] = []
        self.records: list[dict[str, float]] = []

    def add(self) -> None:
        """One more pair. Who begins changes with every pair."""
        frames: list[bytes] = []
        receivers[RUN_ID] = frames.append
        sides = [(self.chunk.plain, self.plain), (self.chunk.armed, self.armed)]
        for work, cpu in sides if len(self.plain) % 2 else reversed(sides):
            cpu.append(self.chunk.cpu_s(work))
        self.records.append(witness(frames))

    def more(self) -> list[float]:
        """What the hooks added to each pair but the first, which warmed up; percent."""
        both = zip(self.plain[1:], self.armed[1:], strict=True)
        return [(armed - plain) / plain * 100 for plain, armed in both]

    def is_told(self) -> bool:
        low, high = median_interval(self.more())
        return high - low <= WIDTH


def measure(processor: ProcessorABC, least: int, most: int) -> dict[str, float]:
    """The hooks' share is that of the quickest chunk, where it is largest."""
    pairs = Pairs(processor)
    while len(pairs.plain) <= least or (
        len(pairs.plain) <= most and not pairs.is_told()
    ):
        pairs.add()
    more = pairs.more()
    low, high = median_interval(more)
    quickest = min(pairs.records[1:], key=lambda record: record["task_time"])
    return quickest | {
        "share": quickest["hook_cost"] / quickest["task_time"] * 100,
        "cpu_time": statistics.median(pairs.plain[1:]),
        "median": statistics.median(more),
        "low": low,
        "high": high,
        "pairs": len(more),
    }


def main() -> None:
    least, most = map(int, sys.argv[1:])
    found = {name: measure(kind(), least, most) for name, kind in PROCESSORS.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
