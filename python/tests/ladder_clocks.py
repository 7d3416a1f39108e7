# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the ladder share: clocks of their own round the work of a chunk.

Classes live here, not in tests, so that processes of a pool can import them.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from coffea import processor
from coffea.processor import Runner

import roastcoffea
from collector_helpers import fileset_of, make_runner

NS = 1e-9
SCHEDSTAT = Path("/proc/thread-self/schedstat")

needs_schedstat = pytest.mark.skipif(
    not SCHEDSTAT.exists(), reason="this kernel does not tell of run queues"
)

_here = threading.local()


# ---- clocks --------------------------------------------------------------------------


def runqueue_s() -> float:
    """How long this thread waited for a core so far, by the kernel's word."""
    try:
        return int(SCHEDSTAT.read_text().split()[1]) * NS
    except OSError:
        return 0.0


def slept_s() -> float:
    """How long delays took in this thread so far."""
    return getattr(_here, "slept_s", 0.0)


def add_slept(seconds: float) -> None:
    _here.slept_s = slept_s() + seconds


class Clocks(NamedTuple):
    """Readings in this thread, or what passed between two of them."""

    wall: float
    cpu: float
    runqueue: float
    slept: float

    @classmethod
    def outside(cls) -> Clocks:
        """Read before what is measured: wall first, so that it is the longest."""
        return cls(time.perf_counter(), time.thread_time(), runqueue_s(), slept_s())

    def passed(self) -> Clocks:
        """Since then. The order is the other way round."""
        slept, runqueue, cpu = slept_s(), runqueue_s(), time.thread_time()
        now = (time.perf_counter(), cpu, runqueue, slept)
        return Clocks(*(b - a for a, b in zip(self, now, strict=True)))

    @property
    def waited(self) -> float:
        """Not on a core: in the run queue, or for something else."""
        return self.wall - self.cpu


class Clocked:
    """A function of coffea's with the test's own clocks round it."""

    def __init__(self, function: Callable[..., Any], layer: str, folder: Path) -> None:
        self.function = function
        self.layer = layer
        self.folder = folder

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        starts = [arg.entrystart for arg in args if hasattr(arg, "entrystart")]
        before = Clocks.outside()
        try:
            return self.function(*args, **kwargs)
        finally:
            passed = before.passed()
            if starts:  # a chunk, not a file that is looked at before
                self.note(starts[0], passed)

    def note(self, start: int, passed: Clocks) -> None:
        """Files are written when all clocks have been read."""
        rows = _here.__dict__.setdefault("rows", [])
        rows.append([self.layer, int(start), *passed])
        if self.layer == "outer":
            _here.rows = []
            path = self.folder / f"{os.getpid()}-{threading.get_native_id()}"
            with path.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)


@dataclass
class ClockedIterative(processor.IterativeExecutor):
    """Clocks round all that is done for a chunk."""

    folder: Any = None

    def __call__(self, items: Any, function: Any, accumulator: Any) -> Any:
        function = Clocked(function, "outer", self.folder)
        return super().__call__(items, function, accumulator)


class ClockedPool(concurrent.futures.Executor):
    """The same for a pool: there a chunk's result is packed, too."""

    def __init__(self, pool: concurrent.futures.Executor, folder: Path) -> None:
        self.pool = pool
        self.folder = folder

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.pool.submit(
            Clocked(function, "outer", self.folder), *args, **kwargs
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait, cancel_futures=cancel_futures)


def clocked_iterative(folder: Path) -> Any:
    return ClockedIterative(status=False, retries=0, folder=folder)


def clocked_futures(pool: Any, folder: Path, **options: Any) -> Any:
    pool = ClockedPool(pool, folder)
    options = {"workers": 2, "status": False, "retries": 0} | options
    return processor.FuturesExecutor(pool=pool, **options)


# ---- runs ----------------------------------------------------------------------------


class Chunk(NamedTuple):
    """What we say of a chunk, and what the test's own clocks say."""

    record: dict[str, Any]
    inner: Clocks  # round coffea's function
    outer: Clocks  # round everything that is done for the chunk

    @property
    def ladder(self) -> dict[str, float]:
        ladder: dict[str, float] = self.record["ladder"]
        return ladder


class Watched(NamedTuple):
    """A run in a block."""

    chunks: list[Chunk]
    collector: Any

    @property
    def metrics(self) -> dict[str, Any]:
        metrics: dict[str, Any] = self.collector.get_metrics()
        return metrics


def _clocks_in(folder: Path) -> dict[tuple[str, int], Clocks]:
    return {
        (layer, start): Clocks(*values)
        for path in folder.iterdir()
        for layer, start, *values in map(json.loads, path.read_text().splitlines())
    }


def watch(
    executor: Any,
    folder: Path,
    file: Any,
    analysis: Any,
    **options: Any,
) -> Watched:
    """Run an analysis of a file or fileset; its executor writes clocks to ``folder``.

    Options are those of the runner, and under ``call`` those of its call.
    """
    call = options.pop("call", {})
    runner = make_runner(executor, **options)
    runner._work_function = Clocked(Runner._work_function, "inner", folder)
    files = file if isinstance(file, dict) else fileset_of(file)
    with roastcoffea.monitor(track_workers=False) as collector:
        runner(files, processor_instance=analysis, **call)
    clocks = _clocks_in(folder)
    chunks = [
        Chunk(record, clocks["inner", start], clocks["outer", start])
        for record in sorted(collector.chunk_metrics, key=lambda r: r["entry_start"])
        for start in (record["entry_start"],)
    ]
    return Watched(chunks, collector)
