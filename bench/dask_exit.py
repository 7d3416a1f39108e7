# SPDX-License-Identifier: BSD-3-Clause
"""d5: leaving the `with` block of a collector, on a real cluster of two workers.

What is timed is the end of the block alone: all that workers and the scheduler know is
brought to the client and all of ours is taken away. It must not be quick because it
forgets something: Dask's spans have to hold the CPU time of every task of the block.
d5r is the same against 0.1.2, whose spans are not looked at: it takes what it gets.
"""

from __future__ import annotations

import functools
import itertools
import time
from typing import Any

from distributed import Client, LocalCluster

from records import _core
from roastcoffea import MetricsCollector

THEIRS = _core is None
LIMIT_NS = 100_000_000
TASKS, TASK_S = 8, 0.01
COMPLETE = 0.9  # of what the tasks themselves have measured
clock = time.perf_counter_ns
names = (f"spin{number}" for number in itertools.count())


def spin(number: int) -> float:
    """CPU seconds, spent and measured."""
    start = time.thread_time()
    while time.thread_time() - start < TASK_S:
        pass
    return time.thread_time() - start


@functools.cache
def client() -> Client:
    """Of a cluster that lives as long as this process."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    return Client(cluster)


def leave() -> int:
    """Nanoseconds of one exit."""
    name = next(names)  # Dask gives a name to the span that had it first
    collector = MetricsCollector(client())
    with collector:
        futures = client().map(spin, range(TASKS), key=name, pure=False)
        spent_s = sum(client().gather(futures))
        start = clock()
    took_ns = clock() - start
    if not THEIRS:
        check(collector, name, spent_s)
    return took_ns


def check(collector: Any, name: str, spent_s: float) -> None:
    """Refuse an exit that has left something behind."""
    told_s = sum(
        value
        for names, value in collector.span_metrics.items()
        if names[:3] == ("execute", name, "thread-cpu")
    )
    errors = collector.get_metrics()["monitor_errors"]
    if errors or told_s < COMPLETE * spent_s:
        told = f"{told_s:.3f} s of {spent_s:.3f} s, {errors} errors"
        raise RuntimeError(f"the block was left with {told}")


def d5(count: int) -> int:
    """The limit stands in the place of the reference."""
    if THEIRS:
        time.sleep(0.02)  # it takes its time, or it would be called ever more
        return LIMIT_NS * count
    return d5r(count)


def d5r(count: int) -> int:
    return sum(leave() for _ in range(count))


CASES = {"d5": d5, "d5r": d5r}
