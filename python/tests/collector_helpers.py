# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the collector share: processors of a tiny file, runners, executors,
and a look at everything that a collector must leave as it found it.

Processors live in a module, not in tests, so that processes of a pool can import them.
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import loky
from coffea import processor
from coffea.nanoevents import BaseSchema
from coffea.processor import Runner

from roastcoffea import track_metrics, track_time

CHUNKS = 3
EVENTS = 3000
FLAG = "_roastcoffea_collect_metrics"


class Plain(processor.ProcessorABC):
    """An analysis without roastcoffea in it."""

    def process(self, events: Any) -> Any:
        return {"n": len(events), "sum": float(ak.sum(events.Hit_value))}

    def postprocess(self, accumulator: Any) -> Any:
        return None


class Measured(Plain):
    """The same, decorated, with one section."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "sum"):
            return Plain.process(self, events)


class Failing(processor.ProcessorABC):
    """Raises in the chunk that begins at entry 1000."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def process(self, events: Any) -> Any:
        if events.metadata["entrystart"] == 1000:
            raise self.error
        return {"n": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return None


class MeasuredFailing(Failing):
    """The same, decorated; it fails in a section."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "selection"):
            return Failing.process(self, events)


def fileset_of(*paths: Path | str) -> dict[str, Any]:
    return {"ttbar": {"files": {str(path): "Events" for path in paths}}}


def iterative(**options: Any) -> Any:
    return processor.IterativeExecutor(status=False, **options)


def threads(**options: Any) -> Any:
    pool = concurrent.futures.ThreadPoolExecutor
    return processor.FuturesExecutor(pool=pool, workers=2, status=False, **options)


def processes(pool: Any, **options: Any) -> Any:
    return processor.FuturesExecutor(pool=pool, workers=2, status=False, **options)


def open_pool() -> Iterator[Any]:
    """Two processes; for a fixture, as they take seconds to start."""
    with loky.ProcessPoolExecutor(max_workers=2) as pool:
        yield pool


def make_runner(executor: Any = None, **options: Any) -> Runner:
    executor = executor or iterative(retries=0)
    options = {"schema": BaseSchema, "chunksize": EVENTS // CHUNKS} | options
    return Runner(executor, **options)


def starts(records: Any) -> list[int]:
    """The first entries of records, in order."""
    return sorted(record["entry_start"] for record in records)


class Surroundings:
    """What must be the same after a block, whatever happened in it."""

    def __init__(self, runner: Any, analysis: Any) -> None:
        self.objects = (runner, analysis)
        self.before = self.now()

    def now(self) -> dict[str, Any]:
        runner, analysis = self.objects
        spaces = {
            "class": dict(vars(Runner)),
            "runner": dict(vars(runner)),
            "executor": dict(vars(runner.executor)),
            "processor": dict(getattr(analysis, "__dict__", {})),
        }
        spaces["processor"].pop("_chunk_metrics", None)
        spaces["class"].pop("__slotnames__", None)  # a note of copyreg's
        environ = [*os.environ.items()]
        return spaces | {"environ": environ, "path": list(sys.path)}

    def check(self) -> None:
        now = self.now()
        for name, was in self.before.items():
            if not isinstance(was, dict):
                assert now[name] == was, name
                continue
            differing = set(now[name]) ^ set(was)
            assert not differing, (name, differing)
            changed = [key for key in was if now[name][key] is not was[key]]
            assert not changed, (name, changed)
