# SPDX-License-Identifier: BSD-3-Clause
"""Where runs of the trial happen: executors, pools and clusters.

Opening a pool or a cluster takes seconds, so the last ones that were used stay open.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dask
import loky
from coffea import processor
from distributed import Client, LocalCluster

MOST_OPEN = 3

POOLS = {
    "processes": loky.ProcessPoolExecutor,
    "threads": concurrent.futures.ThreadPoolExecutor,
}


@dataclass(frozen=True)
class Place:
    """Zero or more workers of some threads each."""

    kind: str  # iterative, processes, threads (pools), dask, dask threads
    workers: int = 1
    threads: int = 1
    pool: Any = None  # a class: each call of the Runner starts one
    options: tuple[tuple[str, Any], ...] = ()  # of the LocalCluster
    config: tuple[tuple[str, Any], ...] = ()  # of Dask

    def __str__(self) -> str:
        if self.kind == "iterative":
            return "Iterative"
        if self.kind in POOLS:
            return f"Futures, {self.workers} {self.kind}"
        where = " in threads" if self.kind == "dask threads" else ""
        return f"Dask, {self.workers} x {self.threads}{where}"

    @property
    def is_dask(self) -> bool:
        return self.kind.startswith("dask")


ITERATIVE = Place("iterative")
PROCESSES = Place("processes", 2)
THREADS = Place("threads", 2)
DASK = Place("dask", 2)
DASK_WIDE = Place("dask", 1, 2)  # one worker process of two threads
DASK_THREADS = Place("dask threads", 1, 2)


class Opened:
    """An executor for each run, and what is behind it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.client: Any = None
        self.pool: Any = place.pool

    def executor(self, **options: Any) -> Any:
        if self.place.kind == "iterative":
            return processor.IterativeExecutor(status=False, **options)
        if self.place.kind in POOLS:
            options |= {"pool": self.pool, "workers": self.place.workers}
            return processor.FuturesExecutor(status=False, **options)
        return processor.DaskExecutor(client=self.client, status=False, **options)


def with_pool(opened: Opened) -> Iterator[Opened]:
    with POOLS[opened.place.kind](max_workers=opened.place.workers) as pool:
        opened.pool = pool
        yield opened


def with_cluster(opened: Opened) -> Iterator[Opened]:
    place = opened.place
    options = {
        "n_workers": place.workers,
        "threads_per_worker": place.threads,
        "processes": place.kind == "dask",
        "dashboard_address": None,
    }
    with (
        dask.config.set(dict(place.config)),
        LocalCluster(**options | dict(place.options)) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(place.workers)
        opened.client = client
        yield opened


@contextlib.contextmanager
def open_place(place: Place) -> Iterator[Opened]:
    opened = Opened(place)
    if place.is_dask:
        yield from with_cluster(opened)
    elif place.kind in POOLS and place.pool is None:
        yield from with_pool(opened)
    else:
        yield opened


class Places:
    """Those that are open."""

    def __init__(self) -> None:
        self.open: dict[Place, tuple[Opened, contextlib.ExitStack]] = {}

    def at(self, place: Place, fresh: bool = False) -> Opened:
        """A fresh one is one that no run has used before."""
        if fresh:
            self.leave(place)
        if place in self.open:
            self.open[place] = self.open.pop(place)  # the last one to be closed
        else:
            # a process of threads and locks is forked by such a pool: not of clusters
            is_forked = place.pool is concurrent.futures.ProcessPoolExecutor
            most = 0 if is_forked else MOST_OPEN - 1
            while len(self.open) > most:
                self.leave(next(iter(self.open)))
            stack = contextlib.ExitStack()
            self.open[place] = stack.enter_context(open_place(place)), stack
        return self.open[place][0]

    def leave(self, place: Place) -> None:
        if place in self.open:
            self.open.pop(place)[1].close()

    def close(self) -> None:
        while self.open:
            self.leave(next(iter(self.open)))
