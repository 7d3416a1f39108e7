# SPDX-License-Identifier: BSD-3-Clause
"""Finds the processes of a pool that die.

A pool whose process died gives all futures an exception, and then ends its other
processes: callbacks of futures are called in between, while only those that died by
themselves have an exit code.
"""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from .. import _probe

EXIT_CODE_S = 0.5  # by which it follows the end of a process

OnDeath = Callable[[int, int | None, int], None]  # pid, exit code, ns since 1970


def is_pool(value: Any) -> bool:
    """Whether it is a pool, and not a class or function that makes one."""
    return isinstance(value, concurrent.futures.Executor)


class PoolWatch:
    """While it is entered, reports processes of a pool that die, once; for what is no
    pool (of processes) it does nothing."""

    def __init__(self, pool: Any, report: OnDeath) -> None:
        self.pool = pool
        self.report = report
        self.submit: Any = getattr(pool, "submit", None)
        found = getattr(pool, "__dict__", {}).get("_processes")
        is_watched = is_pool(pool) and isinstance(found, dict)
        self.processes: dict[Any, Any] | None = found if is_watched else None
        self.is_noted = False

    def _enter(self) -> PoolWatch:
        if self.processes is not None:  # as of concurrent.futures and loky
            self.pool.submit = self.watched
        return self

    def _leave(self, *error: object) -> None:
        space = getattr(self.pool, "__dict__", {})
        if space.get("submit") == self.watched:
            del self.pool.submit

    __exit__ = _probe.leave(_leave)
    __enter__ = _probe.enter(_enter, __exit__)

    def watched(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        future = self.submit(function, *args, **kwargs)
        future.add_done_callback(self.ended)
        return future

    def ended(self, future: Any) -> None:
        """Called in the thread that manages the pool; what it raises is only logged."""
        if self.is_noted or future.cancelled():
            return
        if not isinstance(future.exception(), concurrent.futures.BrokenExecutor):
            return
        self.is_noted, now_ns = True, time.time_ns()
        processes = {p.sentinel: p for p in dict(self.processes or {}).values()}
        for sentinel in wait(list(processes), 0):
            process = processes[sentinel]
            process.join(EXIT_CODE_S)
            self.report(process.pid, process.exitcode, now_ns)
