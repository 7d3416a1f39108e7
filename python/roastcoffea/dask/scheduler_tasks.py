# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: every task that leaves a worker, and how.

The hook is called for each step of each task of the cluster, so it does next to nothing
unless a task enters or leaves a worker. Of a task that raised and is tried again Dask
says neither worker nor times; where it was is remembered from its assignment, and from
the event by which another worker took it. Travels as source: standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import time
from typing import Any
from zlib import crc32

from .scheduler_members import Members
from .scheduler_pages import FACTS, TASKS, Errors, Pages

PIECE_OF_TASKS = 1000
RAISED = ("task-erred", "execute-unknown-error")  # how ids of such stimuli begin
UNKNOWN = float("nan")


def key_hash(key: Any) -> int:
    """By which a task is known to records of its attempts."""
    try:
        return crc32(str(key).encode())
    except UnicodeEncodeError:
        return crc32(str(key).encode("utf-8", "replace"))


class Tasks:
    """Tasks on workers, and pages of those that left them."""

    def __init__(
        self,
        mark: str,
        pages: Pages,
        members: Members,
        errors: Errors,
        rules: dict[str, Any],
    ) -> None:
        self.mark = mark
        self.pages = pages
        self.members = members
        self.errors = errors
        self.scheduler: Any = None
        self.running: dict[Any, tuple[int, float]] = {}  # key: worker, since when
        self.prefixes: dict[str, int] = {}
        self.our_prefixes: set[str] = set()
        self.is_ending = False  # what begins now is not of the run
        self.touched: set[int] = set()  # workers that got or ended a task since a tick
        self._ends: dict[str, int] = rules["ends"]
        self._ok, self._ours = self._ends["ok"], int(rules["ours"])
        self._nowhere = (int(rules["nobody"]), UNKNOWN)
        self._most_prefixes = int(rules["most_prefixes"])
        self._open = pages.open[TASKS]
        self._pack = pages.structs["task"].pack
        self._kind = pages.numbers["task"]
        self._room = pages.page_bytes - pages.structs["task"].size

    def begin(self, address: str) -> None:
        """Note what is on a worker already; since when is not known."""
        number = self.members.numbers[address]
        for task in self.scheduler.workers[address].processing:
            self.running.setdefault(task.key, (number, UNKNOWN))

    def transition(
        self,
        key: Any,
        start: str,
        finish: str,
        *args: Any,
        stimulus_id: str = "",
        **more: Any,
    ) -> None:
        """The hook."""
        if start != "processing":
            if finish == "processing" and not self.is_ending:
                try:
                    worker = self.scheduler.tasks[key].processing_on.address
                    number = self.members.numbers[worker]
                    self.running[key] = (number, time())
                    self.touched.add(number)
                except Exception as error:
                    self.errors.note("a task that begins", error)
        elif finish != "processing":
            try:
                self._left(key, finish, stimulus_id, more)
            except Exception as error:
                self.pages.lose(TASKS)
                self.errors.note("a task that ends", error)

    def _left(
        self, key: Any, finish: str, stimulus_id: str, more: dict[str, Any]
    ) -> None:
        """A task leaves its worker; written out, because this is all that costs."""
        if self.is_ending and key not in self.running:
            return  # its row says that it runs, or it began too late
        task = self.scheduler.tasks[key]
        number, since = self.running.pop(key, self._nowhere)
        began, ended, now = UNKNOWN, UNKNOWN, time()
        if "worker" in more:
            number = self.members.numbers[more["worker"]]
        for part in more.get("startstops") or ():
            if part["action"] == "compute":
                began, ended = part["start"], part["stop"]
        if not ended <= now:  # not known, or the worker's idea of our clock is off
            began, ended = began - (ended - now), now
        elif began < since:
            late = min(since - began, now - ended)
            began, ended = began + late, ended + late
        if finish == "memory":
            end = self._ok
        else:
            end = self._why(task, finish, number, stimulus_id)
        name = task.prefix.name
        prefix = self.prefixes.get(name)
        if prefix is None:
            prefix = self._prefix(name)
        if task.annotations and self.mark in task.annotations:
            end += self._ours
            self.our_prefixes.add(name)
        self.touched.add(number)
        known = crc32(key.encode()) if type(key) is str else key_hash(key)
        data = self._open
        data += self._pack(self._kind, known, prefix, number, end, since, began, ended)
        if len(data) > self._room:
            self.pages.seal(TASKS)

    def _why(self, task: Any, finish: str, number: int, stimulus_id: str) -> int:
        """How a task ended that left no result."""
        addresses = self.members.addresses
        worker = addresses[number] if number < len(addresses) else None
        if worker is not None and worker not in self.scheduler.workers:
            return self._ends["lost"]
        if finish == "erred":
            return self._ends["failed"]
        if not (task.who_wants or task.waiters):
            return self._ends["cancelled"]
        has_raised = stimulus_id.startswith(RAISED)
        return self._ends["retried" if has_raised else "sent_back"]

    def _put(self, task: Any, number: int, end: int, *times: float) -> None:
        """The same, of a task that has not left or not begun."""
        name = task.prefix.name
        prefix = self.prefixes.get(name)
        if prefix is None:
            prefix = self._prefix(name)
        if task.annotations and self.mark in task.annotations:
            end += self._ours
        data = self._open
        data += self._pack(self._kind, key_hash(task.key), prefix, number, end, *times)
        if len(data) > self._room:
            self.pages.seal(TASKS)

    def _prefix(self, name: str) -> int:
        """The number of a prefix; past the last one all are the same."""
        number = len(self.prefixes)
        if number >= self._most_prefixes - 1:
            name = "(other)"
            if name in self.prefixes:
                return self.prefixes[name]
        self.prefixes[name] = number
        self.pages.put(FACTS, "prefix", number, texts=(name or "(none)",))
        return number

    def moved(self, event: Any) -> None:
        """An event of stealing: ("confirm", key, state, from, to, ...)."""
        if not isinstance(event, (tuple, list)) or not event or event[0] != "confirm":
            return
        key, victim, thief = event[1], event[3], event[4]
        task = self.scheduler.tasks.get(key)
        if task is None or key not in self.running:
            return
        now = time()
        since = self.running[key][1]
        end = self._ends["moved"]
        self._put(task, self.members.number(victim), end, since, UNKNOWN, now)
        self.running[key] = (self.members.number(thief), now)
        self.touched.update((self.members.number(victim), self.running[key][0]))

    def look_at_prefixes(self) -> Iterator[None]:
        """Those of our tasks that are on workers; yields now and then."""
        for done, key in enumerate(list(self.running)):
            task = self.scheduler.tasks.get(key)
            if task is not None and task.annotations and self.mark in task.annotations:
                self.our_prefixes.add(task.prefix.name)
            if done % PIECE_OF_TASKS == PIECE_OF_TASKS - 1:
                yield

    def end(self) -> Iterator[None]:
        """Those that have not left their worker; yields now and then."""
        self.is_ending = True
        for done, (key, (number, since)) in enumerate(list(self.running.items())):
            task = self.scheduler.tasks.get(key)
            if task is not None and key in self.running:
                del self.running[key]
                end = self._ends["running"]
                self._put(task, number, end, since, UNKNOWN, UNKNOWN)
            if done % PIECE_OF_TASKS == PIECE_OF_TASKS - 1:
                yield

    def forget(self) -> None:
        """The scheduler has forgotten all tasks: how they ended is not known."""
        self.pages.dropped[TASKS] += len(self.running)
        self.running.clear()
