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
import sys
import time
from collections.abc import Callable
from typing import Any

import awkward as ak
from coffea.nanoevents import NanoAODSchema
from coffea.processor import IterativeExecutor, ProcessorABC, Runner

from nano import TREE, nano_file
from pairs import Pairs
from roastcoffea import _probe
from roastcoffea.coffea.work_function import Token, WorkFunction, receivers

RUN_ID = bytes(range(1, 17))
WITNESSES = ("hook_calls", "hook_cost", "task_time")
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


class Looks:
    """A chunk on both sides, and what each look into it says of its hooks."""

    def __init__(self, processor: ProcessorABC) -> None:
        self.chunk = Chunk(processor)
        self.pairs = Pairs(self.plain, self.armed)
        self.records: list[dict[str, float]] = []

    def plain(self) -> float:
        return self.chunk.cpu_s(self.chunk.plain)

    def armed(self) -> float:
        frames: list[bytes] = []
        receivers[RUN_ID] = frames.append
        cpu_s = self.chunk.cpu_s(self.chunk.armed)
        self.records.append(witness(frames))
        return cpu_s


def measure(processor: ProcessorABC, least: int, most: int) -> dict[str, float]:
    """The hooks' share is that of the quickest chunk, where it is largest."""
    looks = Looks(processor)
    looks.pairs.take(least, most)
    quickest = min(looks.records[1:], key=lambda record: record["task_time"])
    share = quickest["hook_cost"] / quickest["task_time"] * 100
    return quickest | {"share": share} | looks.pairs.figures()


def main() -> None:
    least, most = map(int, sys.argv[1:])
    found = {name: measure(kind(), least, most) for name, kind in PROCESSORS.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
