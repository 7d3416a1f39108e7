# SPDX-License-Identifier: BSD-3-Clause
"""Calls of ours on a Dask cluster, counted and timed while a run goes on.

For dask_overhead.py. Functions are wrapped where they are called: on the scheduler,
which must be in this process, on the client, and on workers, which import this very
file. CPU time of the thread is read around each call; what reading costs is found out
once and taken off again.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from roastcoffea.coffea.work_function import WorkFunction
from roastcoffea.dask.watch import Watch

cpu_clock = time.thread_time_ns
TRIALS = 2000


class Calls(NamedTuple):
    """What was called, how often, and the CPU seconds of all of it."""

    where: str
    what: str
    count: int
    cpu_s: float

    @property
    def each_us(self) -> float:
        return self.cpu_s / self.count * 1e6 if self.count else 0.0


class Counter:
    """Calls of one function, or of some."""

    def __init__(self) -> None:
        self.count = 0
        self.cpu_ns = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            start = cpu_clock()
            try:
                return function(*args, **kwargs)
            finally:
                self.cpu_ns += cpu_clock() - start
                self.count += 1

        return counted

    def each(self, pieces: Iterator[Any]) -> Iterator[Any]:
        """Of a generator, which counts once, all pieces together."""
        self.count += 1
        while True:
            start = cpu_clock()
            try:
                piece = next(pieces)
            except StopIteration:
                return
            finally:
                self.cpu_ns += cpu_clock() - start
            yield piece

    def net_s(self) -> float:
        return max(0.0, self.cpu_ns / 1e9 - self.count * reading_s())


@functools.cache
def reading_s() -> float:
    """What a call that does nothing seems to take."""
    counter = Counter()
    nothing = counter.around(lambda: None)
    for _ in range(TRIALS):
        nothing()
    return counter.cpu_ns / counter.count / 1e9


# ---- on workers ----------------------------------------------------------------------


class Attempts:
    """Everything around a chunk that is ours; the chunk itself is taken off."""

    def __init__(self) -> None:
        self.whole, self.chunk = Counter(), Counter()
        self.original = WorkFunction.__call__
        whole = self.whole.around(self.original)

        def call(work: Any, *args: Any, **kwargs: Any) -> Any:
            work.function = self.chunk.around(work.function)
            return whole(work, *args, **kwargs)

        WorkFunction.__call__ = call  # type: ignore[method-assign]

    def end(self) -> tuple[int, float]:
        WorkFunction.__call__ = self.original  # type: ignore[method-assign]
        return self.whole.count, self.whole.net_s() - self.chunk.net_s()


attempts: list[Attempts] = []  # of this process


def begin_here() -> None:
    attempts.append(Attempts())


def end_here() -> tuple[int, float]:
    return attempts.pop().end()


# ---- on the scheduler and on the client ----------------------------------------------

SCHEDULER = {
    "transition": "steps of tasks",
    "log_event": "events",
    "ticking": "ticks",
    "pull": "pulls",
}


def wrap_plugin(scheduler: Any) -> dict[str, Counter]:
    """Count the hooks of the one plugin of ours there."""
    (plugin,) = (
        plugin
        for name, plugin in scheduler.plugins.items()
        if name.startswith("roastcoffea-")
    )
    counters = {name: Counter() for name in SCHEDULER}
    for name in ("transition", "log_event"):
        setattr(plugin, name, counters[name].around(getattr(plugin, name)))
    ticking = plugin.ticking
    plugin.ticking = lambda: counters["ticking"].each(ticking())
    plugin.pages.pull = counters["pull"].around(plugin.pages.pull)
    return counters


@contextlib.contextmanager
def counting(client: Any, scheduler: Any) -> Iterator[list[Calls]]:
    """Count in a block of a collector; the list is filled when it ends."""
    found: list[Calls] = []
    batches, take = Counter(), Watch._take
    Watch._take = batches.around(take)  # type: ignore[method-assign]
    hooks = wrap_plugin(scheduler)
    client.run(begin_here)
    try:
        yield found
    finally:
        Watch._take = take  # type: ignore[method-assign]
        answers = client.run(end_here).values()
        around = sum(count for count, _ in answers), sum(cpu for _, cpu in answers)
        found.append(Calls("workers", "around chunks", *around))
        for name, counter in hooks.items():
            what = SCHEDULER[name]
            found.append(Calls("scheduler", what, counter.count, counter.net_s()))
        found.append(Calls("client", "pages read", batches.count, batches.net_s()))
