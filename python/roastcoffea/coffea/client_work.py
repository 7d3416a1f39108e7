# SPDX-License-Identifier: BSD-3-Clause
"""Work in a call of ``Runner.run`` that is part of no attempt: merging outputs, reading
the number of entries of files, starting and stopping pools, ``postprocess()``.

Processes of a pool note the files that they read in the spool. For the call, the Runner
gets a copy of coffea's executors, with clocks: ``IterativeExecutor`` merges outputs
between two chunks in the same thread, ``FuturesExecutor`` makes a pool and stops it;
when any of them returns, ``postprocess()`` begins. Executors of other classes are not
copied.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from roastcoffea.coffea.pool_watch import PoolWatch, is_pool
from roastcoffea.coffea.results import is_iterative
from roastcoffea.coffea.work_function import FILE_READS

Report = Callable[[str, int, int], None]

READS_ENTRIES = "get_metadata"  # coffea's names, as on Dask
MERGES = "reduce"


def workers_read_entries(runner: Any) -> bool:
    """Whether reading the entries of a file in this process is work of a worker."""
    pre_executor = getattr(runner, "pre_executor", None)
    return is_iterative(runner.executor) or not is_iterative(pre_executor)


class ClientWork:
    """Reports the client's own work to the runs of a call."""

    def __init__(self, runs: list[Any], processor: Any) -> None:
        self.runs = runs
        self.processor = processor
        self.in_postprocess = False
        self.spools: tuple[str, ...] = ()  # of the runs, where there is a pool
        self._clocked: dict[int, Any] = {}  # copies of executors, by the original's id

    def report(self, prefix: str, start_ns: int, stop_ns: int) -> None:
        for run in self.runs:
            run.client_did(prefix, start_ns, stop_ns)

    def file_read(self, start_ns: int, stop_ns: int) -> None:
        """The number of entries of a file was read."""
        self.report(READS_ENTRIES, start_ns, stop_ns)

    def take_notes(self) -> None:
        """Report the files that processes of a pool have read so far. Impossible times
        come from another machine and are left out."""
        for run, spool in zip(self.runs, self.spools, strict=False):
            now_ns = time.monotonic_ns()
            for start_ns, stop_ns in _taken_notes(spool):
                if run.start_mono_ns <= start_ns <= stop_ns <= now_ns:
                    run.client_did(READS_ENTRIES, start_ns, stop_ns)

    def mark(self, name: str) -> None:
        now = time.monotonic_ns()
        for run in self.runs:
            run.mark(name, now)

    def begin_postprocess(self) -> None:
        """The outputs are merged: the Runner calls ``postprocess()`` next."""
        self.in_postprocess = callable(getattr(self.processor, "postprocess", None))
        if self.in_postprocess:
            self.mark("postprocess_begin")

    def end_postprocess(self) -> None:
        if self.in_postprocess:
            self.in_postprocess = False
            self.mark("postprocess_end")

    def process_died(self, pid: int, exit_code: int | None, time_ns: int) -> None:
        for run in self.runs:
            run.process_died(pid, exit_code, time_ns)

    def replaced(self, executor: Any) -> Any:
        """The executor for the call: itself, or a copy with clocks."""
        executor = getattr(type(executor), "_without_clock", executor)
        if not _is_of_coffea(type(executor)):
            return executor
        if id(executor) not in self._clocked:
            try:
                clocked = _with_clocks(executor, self)
            except Exception as error:  # it is not timed
                clocked = executor
                for run in self.runs:
                    run.note_error("copy of an executor", error)
            self._clocked[id(executor)] = clocked
        return self._clocked[id(executor)]


def _taken_notes(spool: str) -> list[tuple[int, int]]:
    """Start and stop of each read, in order; removes the notes."""
    path, text = os.path.join(spool, FILE_READS), ""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        text = file.read()
        os.unlink(path)
    rows = [line.split() for line in text.splitlines()]
    return sorted((int(row[0]), int(row[1])) for row in rows if len(row) == 2)


class _Between:
    """Calls a function for each item, and reports the time between the calls."""

    def __init__(self, function: Callable[[Any], Any], report: Report) -> None:
        self.function = function
        self.report = report
        self.since_ns = 0  # 0: no output yet

    def __call__(self, item: Any) -> Any:
        self.end()
        try:
            return self.function(item)
        finally:
            self.since_ns = time.monotonic_ns()

    def end(self) -> None:
        since_ns, self.since_ns = self.since_ns, 0
        if since_ns:
            self.report(MERGES, since_ns, time.monotonic_ns())


class _TimedPools:
    """Makes the pools of an executor that has no pool yet: a class, or a function."""

    def __init__(self, make: Callable[..., Any], work: ClientWork) -> None:
        self.make = make
        self.work = work

    @contextlib.contextmanager
    def __call__(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        with contextlib.ExitStack() as stack:
            stack.callback(self.work.mark, "pool_stop_end")
            self.work.mark("pool_start")
            pool = stack.enter_context(self.make(*args, **kwargs))
            stack.callback(self.work.mark, "pool_stop_begin")
            with PoolWatch(pool, self.work.process_died):
                yield pool


def _is_of_coffea(kind: type) -> bool:
    """Whether a class of executors is coffea's own, or our copy of one."""
    modules = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next(name for name in modules if name != "roastcoffea") == "coffea"


def _with_clocks(executor: Any, work: ClientWork) -> Any:
    kind: Any = type(executor)

    def call(self: Any, items: Any, function: Any, accumulator: Any) -> Any:
        reads_entries = self.function_name == READS_ENTRIES  # each file is timed itself
        with contextlib.ExitStack() as stack:
            if is_iterative(self) and not reads_entries:
                function = _Between(function, work.report)
                stack.callback(function.end)
            with PoolWatch(getattr(self, "pool", None), work.process_died):
                result = kind.__call__(self, items, function, accumulator)
        if not reads_entries:
            work.begin_postprocess()
        return result

    members = {"__call__": call, "_without_clock": executor}
    copied: Any = object.__new__(type(kind.__name__, (kind,), members))
    vars(copied).update(vars(executor))
    pool = vars(copied).get("pool")
    if pool is not None and not is_pool(pool):
        copied.pool = _TimedPools(pool, work)
    return copied
