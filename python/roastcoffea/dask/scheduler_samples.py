# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: what workers said of themselves, once per tick.

Most workers have said nothing new since the last tick (they speak every n / 200 seconds
where there are n), so a tick compares one column of all workers and reads in full only
those whose `last_seen` moved; of those that got or ended a task, the number of tasks. A
tick is a generator: between two pieces of it the scheduler does its own work.
Travels as source: standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from itertools import compress
from operator import attrgetter, itemgetter, ne
from struct import Struct
from time import time
from typing import Any

from .scheduler_members import Members
from .scheduler_pages import SAMPLES, Errors, Pages

PIECE_OF_TICK = 500  # full samples between two breaths
DELAY_EVERY = 16  # full samples of a worker
UNKNOWN = float("nan")
seen_of = attrgetter("last_seen")
said_of = itemgetter(
    "memory",
    "cpu",
    "managed_bytes",
    "spilled_bytes",
    "host_net_io",
    "host_disk_io",
    "event_loop_interval",
)
Reader = Callable[[Any], Any]
READERS: dict[str, Reader] = {  # in the order in which _speak() packs all but the last
    "memory": lambda w: w.metrics["memory"],
    "memory_limit": lambda w: w.memory_limit or UNKNOWN,
    "active_tasks": lambda w: len(w.processing),
    "cores": lambda w: w.nthreads,
    "nbytes": lambda w: w.nbytes,
    "occupancy": lambda w: w.occupancy,
    "executing": lambda w: len(w.executing),
    "last_seen": lambda w: w.last_seen,
    "cpu": lambda w: w.metrics["cpu"],
    "managed": lambda w: w.metrics["managed_bytes"],
    "spilled_memory": lambda w: w.metrics["spilled_bytes"]["memory"],
    "spilled_disk": lambda w: w.metrics["spilled_bytes"]["disk"],
    "net_read": lambda w: w.metrics["host_net_io"]["read_bps"],
    "net_write": lambda w: w.metrics["host_net_io"]["write_bps"],
    "disk_read": lambda w: w.metrics["host_disk_io"]["read_bps"],
    "disk_write": lambda w: w.metrics["host_disk_io"]["write_bps"],
    "loop_interval": lambda w: w.metrics["event_loop_interval"],
    "gil": lambda w: w.metrics["gil_contention"],
}


class Samples:
    """The last tick, and pages of all before it."""

    def __init__(
        self, pages: Pages, members: Members, errors: Errors, series: list[str]
    ) -> None:
        self.pages = pages
        self.members = members
        self.errors = errors
        self.scheduler: Any = None
        bits = {name: series.index(name) for name in READERS if name in series}
        self._readers = sorted((bit, READERS[name]) for name, bit in bits.items())
        self._tasks_mask = 1 << bits["active_tasks"]
        together = [bits.get(name, -1) for name in READERS][:-1]
        at_once = together == sorted(set(together)) and together[0] >= 0
        # 0: the client has another order of series
        self._full_mask = sum(1 << bit for bit in together) if at_once else 0
        head = pages.structs["sample"].format
        self._pack_full = Struct(f"{head}{len(together)}d").pack
        self._pack_tasks = Struct(f"{head}d").pack
        self._kind = pages.numbers["sample"]
        self._workers: list[Any] = []  # these three are columns of one table
        self._pairs: list[tuple[Any, int]] = []  # a worker and its number
        self._seen: list[float] = []
        self._rows: dict[int, int] = {}  # by number of the worker, as are these:
        self._counts: dict[int, int] = {}  # of tasks, as was said last
        self._fulls: dict[int, int] = {}  # full samples so far

    def join(self, state: Any) -> None:
        """Somebody to look at from now on."""
        number = self.members.numbers[state.address]
        self.leave(state.address)
        self._rows[number] = len(self._workers)
        self._workers.append(state)
        self._pairs.append((state, number))
        self._seen.append(UNKNOWN)

    def leave(self, address: str) -> None:
        """The last row takes the place of the one that goes."""
        number = self.members.numbers.get(address, -1)
        row = self._rows.pop(number, None)
        if row is None:
            return
        self._fulls.pop(number, None)
        self._counts.pop(number, None)
        columns: list[list[Any]] = [self._workers, self._pairs, self._seen]
        lasts = [column.pop() for column in columns]
        if row < len(self._workers):
            for column, last in zip(columns, lasts, strict=True):
                column[row] = last
            self._rows[lasts[1][1]] = row

    def last_words(self, address: str, tasks: int = 0) -> None:
        """Sample a worker that goes, if it said something since the last tick.

        Not amid a tick: what follows there would be of another time.
        """
        row = self._rows.get(self.members.numbers.get(address, -1))
        if row is None or self.pages.head:
            return
        if seen_of(self._workers[row]) == self._seen[row]:
            return
        self._begin(len(self._workers) - 1, tasks)
        try:
            self._speak([self._pairs[row]])
        finally:
            self.pages.end_tick()

    def tick(self, tasks: int = 0, touched: Set[int] = frozenset()) -> Iterator[None]:
        """Sample all that moved; yields where the scheduler may breathe.

        `tasks` are on workers; `touched` are numbers of workers that got or ended some.
        """
        seen = list(map(seen_of, self._workers))
        waiting = list(compress(self._pairs, map(ne, seen, self._seen)))
        self._seen = seen
        self._begin(len(seen), tasks)
        try:
            if touched:
                speaking = {number for _, number in waiting}
                for number in touched - speaking:
                    self._busy(number)
            for start in range(0, len(waiting), PIECE_OF_TICK):
                if start:
                    yield
                self._speak(waiting[start : start + PIECE_OF_TICK])
        finally:
            self.pages.end_tick()

    def _begin(self, workers: int, tasks: int) -> None:
        pages = self.pages
        threads = getattr(self.scheduler, "total_nthreads", 0)
        head = pages.structs["tick"].pack(
            pages.numbers["tick"], time(), workers, threads, tasks
        )
        pages.head = head
        pages.open[SAMPLES] += head

    def _busy(self, number: int) -> None:
        """A worker with more or fewer tasks than it had."""
        row = self._rows.get(number, -1)
        count = len(self._workers[row].processing) if row >= 0 else None
        if count is None or count == self._counts.get(number):
            return
        self._counts[number] = count
        pages = self.pages
        page = pages.open[SAMPLES]
        page += self._pack_tasks(self._kind, number, self._tasks_mask, count)
        pages.counts[SAMPLES] += 1
        if len(page) >= pages.page_bytes:
            pages.seal(SAMPLES)

    def _speak(self, waiting: list[tuple[Any, int]]) -> None:
        """All that these workers said: the loop that a tick is made of."""
        pages, counts, fulls = self.pages, self._counts, self._fulls
        page, page_bytes, packed = pages.open[SAMPLES], pages.page_bytes, 0
        pack, kind, mask = self._pack_full, self._kind, self._full_mask
        for worker, number in waiting:
            counts[number] = tasks = len(worker.processing)
            metrics = worker.metrics
            try:
                if "gil_contention" in metrics or not mask:
                    raise KeyError
                memory, cpu, managed, spilled, net, disk, loop = said_of(metrics)
                page += pack(
                    kind,
                    number,
                    mask,
                    memory,
                    worker.memory_limit or UNKNOWN,
                    tasks,
                    worker.nthreads,
                    worker.nbytes,
                    worker.occupancy if tasks else 0.0,  # it is the dearest of all
                    len(worker.executing),
                    worker.last_seen,
                    cpu,
                    managed,
                    spilled["memory"],
                    spilled["disk"],
                    net["read_bps"],
                    net["write_bps"],
                    disk["read_bps"],
                    disk["write_bps"],
                    loop,
                )
            except Exception:
                page += self._piecemeal(worker, number)
            packed += 1
            fulls[number] = before = fulls.get(number, -1) + 1
            if not before % DELAY_EVERY:
                self._delay(worker, number)
            if len(page) >= page_bytes:
                pages.counts[SAMPLES] += packed
                packed = 0
                pages.seal(SAMPLES)
        pages.counts[SAMPLES] += packed

    def _piecemeal(self, w: Any, number: int) -> bytes:
        """What there is, where something is missing."""
        mask, values = 0, []
        for bit, read in self._readers:
            try:
                value = float(read(w))
            except Exception:
                continue
            mask |= 1 << bit
            values.append(value)
        head = self.pages.structs["sample"]
        return Struct(f"{head.format}{len(values)}d").pack(
            self._kind, number, mask, *values
        )

    def _delay(self, w: Any, number: int) -> None:
        try:
            delay = float(w.time_delay)
        except Exception as error:
            self.errors.note("the clock of a worker", error)
            return
        pages = self.pages
        pages.open[SAMPLES] += pages.structs["delay"].pack(
            pages.numbers["delay"], number, delay
        )
