# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: facts of one run, packed into pages until the client pulls them.

Workers that join and leave, tasks that left a worker, samples of workers. The format
is dask_batch_items.def. Pickled by value with scheduler_plugin.py: standard library
only.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Set
from itertools import compress
from operator import attrgetter, itemgetter, ne
from struct import Struct
from time import monotonic, time
from typing import Any
from zlib import crc32

FACTS, FRAMES, TASKS, SAMPLES = range(4)  # kinds of pages
PIECE_OF_SAMPLES = 500  # packed between two pauses
PIECE_OF_TASKS = 1000
DELAY_EVERY = 16  # samples of a worker
MOST_HINTS = 20_000
UNKNOWN = float("nan")
RAISED = ("task-erred", "execute-unknown-error")  # stimuli of a task that raised
STIMULUS_TIME = re.compile(r"-\d+\.\d+$")  # at the end of stimulus ids
REASONS = {  # stimulus: name of the reason why a worker left
    "handle-worker-cleanup": "connection",
    "worker-send-comm-fail": "connection",
    "retire-workers": "retired",
}
# Of workers that close: reasons of the calls with which a cluster object, or the user,
# closes them. A signal, a lost connection and the like have other reasons.
ON_REQUEST = (": nanny-close", ": worker-close")


def plain(text: Any, most: int = 500) -> str:
    """A text that is valid UTF-8: a lone surrogate would break Dask's connection."""
    cut = str(text)[:most]
    return cut if cut.isascii() else cut.encode("utf-8", "replace").decode()


def error_text(error: BaseException, most: int = 200) -> str:
    """Type and message of an error; some messages cannot be formatted."""
    kind = type(error).__name__
    try:
        return plain(f"{kind}: {error}", most)
    except Exception:
        return plain(kind, most)


def key_hash(key: Any) -> int:
    """The id of a task in records of its attempts."""
    try:
        return crc32(str(key).encode())
    except UnicodeEncodeError:
        return crc32(str(key).encode("utf-8", "replace"))


def boot_id() -> str:
    """Identifies the running kernel: two processes of one kernel share its clock."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeError):
        return ""


class Errors:
    """Errors of our own code: counted, never raised."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def add(self, where: str, error: BaseException) -> None:
        self.count += 1
        if not self.first:
            self.first = plain(f"{where}: {error_text(error, 400)}")


# ---- pages -----------------------------------------------------------------------


class Pages:
    """Packed facts: one growing page of each kind, and a ring of complete ones.

    Past the cap, samples are dropped before frames and frames before tasks; FACTS,
    which hold the names that the others refer to, are never dropped. Every page can be
    read without the dropped ones: one of samples begins with the tick of its first.
    """

    def __init__(
        self, items: dict[str, Any], rules: dict[str, Any], limits: dict[str, float]
    ) -> None:
        self.numbers = {name: int(row[0]) for name, row in items.items()}
        self.structs = {name: Struct("<B" + row[1]) for name, row in items.items()}
        self.most_text_bytes = int(rules["most_text_bytes"])
        self.page_bytes = int(limits["page_bytes"])
        self.answer_bytes = int(limits["answer_bytes"])
        self.cap_bytes = int(limits["cap_bytes"])
        self.open = [bytearray() for _ in range(4)]  # never replaced
        self.counts = [0, 0, 0, 0]  # items of open pages; not of tasks
        self.dropped = [0, 0, 0, 0]
        self.head = b""  # the tick that a further page of samples belongs to
        self.trims = 0  # how often the cap was reached
        self.whole: deque[tuple[int, int, bytes, int]] = deque()  # number, kind, ...
        self.whole_bytes = 0
        self.sequence = 0
        self._announced = [0, 0, 0, 0]  # losses that a page contains

    def put(
        self,
        kind: int,
        name: str,
        *values: Any,
        texts: tuple[Any, ...] = (),
        tail: bytes = b"",
    ) -> None:
        """Pack an item, or nothing of one that cannot be packed. Tasks and samples,
        which are frequent, are packed in place."""
        item = self.structs[name].pack(self.numbers[name], *values)
        for text in texts:
            encoded = str(text).encode("utf-8", "replace")
            if len(encoded) > self.most_text_bytes:
                cut = encoded[: self.most_text_bytes]
                encoded = cut.decode("utf-8", "ignore").encode()
            item += len(encoded).to_bytes(2, "little") + encoded
        item += tail
        data = self.open[kind]
        data += item
        self.counts[kind] += 1
        if len(data) >= self.page_bytes:
            self.close_page(kind)

    def close_page(self, kind: int, trims: bool = True) -> None:
        """Complete the page of a kind, after the names that it may refer to."""
        if kind != FACTS:
            self.close_page(FACTS)
        data = self.open[kind]
        if not data:
            return
        self.sequence += 1
        count = self.counts[kind]
        if kind == TASKS:
            count = len(data) // self.structs["task"].size
        self.whole.append((self.sequence, kind, bytes(data), count))
        self.whole_bytes += len(data)
        data.clear()
        self.counts[kind] = 0
        if kind == SAMPLES:
            data += self.head
        if trims and self.whole_bytes > self.cap_bytes:
            self._trim()

    def _trim(self) -> None:
        """Drop the oldest pages of the least important kind, to 3/4 of the cap."""
        self.trims += 1
        for kind in (SAMPLES, FRAMES, TASKS):
            kept = deque[tuple[int, int, bytes, int]]()
            for page in self.whole:
                if page[1] == kind and self.whole_bytes > self.cap_bytes * 3 // 4:
                    self.whole_bytes -= len(page[2])
                    self.dropped[kind] += page[3]
                else:
                    kept.append(page)
            self.whole = kept

    def pull(self, after: int) -> dict[str, Any]:
        """The pages after a number, as many as fit into one answer."""
        while self.whole and self.whole[0][0] <= after:
            self.whole_bytes -= len(self.whole.popleft()[2])
        for kind in (FACTS, FRAMES, TASKS):
            self.close_page(kind)
        if self.counts[SAMPLES]:
            self.close_page(SAMPLES)
        lost = self.dropped
        if self._announced != lost:
            self._announced = list(lost)
            self.put(FACTS, "dropped", lost[SAMPLES], lost[TASKS], lost[FRAMES])
            self.close_page(FACTS, trims=False)
        pages: list[Any] = []
        room = self.answer_bytes
        for number, _, data, _ in self.whole:
            room -= len(data)
            if pages and room < 0:
                break
            pages.append([number, data])
        return {"pages": pages, "more": len(pages) < len(self.whole)}


# ---- workers that join and leave -------------------------------------------------


class Members:
    """The workers that are present, their numbers, and hints why one will leave.

    The hook for a worker that leaves does not know why. Events do, and come first: the
    scheduler's own, the worker's last one, and the nanny's when it kills a worker.
    """

    def __init__(self, pages: Pages, rules: dict[str, Any]) -> None:
        self.pages = pages
        self.numbers: dict[str, int] = {}
        self.addresses: list[str] = []  # by number
        self.present: dict[str, float] = {}  # address: since when, monotonic
        self._texts: dict[str, str] = rules["reasons"]
        self._most_workers = int(rules["most_workers"])
        self._leaving: dict[str, tuple[bool, str]] = {}  # is expected, stimulus
        self._hints: dict[str, tuple[str, str]] = {}  # name of the reason, details
        self._restarting: set[str] = set()

    def number(self, address: str) -> int:
        """The number of a worker; a new one is announced on a page."""
        number = self.numbers.get(address)
        if number is None:
            if len(self.numbers) >= self._most_workers:
                raise OverflowError(f"more than {self._most_workers} workers")
            number = self.numbers[address] = len(self.numbers)
            self.addresses.append(address)
            self.pages.put(FACTS, "worker", number, texts=(address,))
        return number

    def join(self, state: Any, when: float | None = None) -> None:
        def whole(name: str) -> int:
            value = getattr(state, name, 0)
            return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0

        address = state.address
        self.present[address] = monotonic()
        self._hints.pop(address, None)
        self._restarting.discard(address)
        self.pages.put(
            FACTS,
            "joined",
            self.number(address),
            time() if when is None else when,
            whole("nthreads"),
            float(getattr(state, "memory_limit", 0) or 0),
            whole("pid"),
            texts=(getattr(state, "name", ""), getattr(state, "host", "")),
        )

    def leave(self, address: str, stimulus_id: str) -> None:
        if self.present.pop(address, None) is None:
            return
        expected, stimulus = self._leaving.pop(address, (False, stimulus_id))
        name, details = self._hints.pop(address, ("", ""))
        stimulus = STIMULUS_TIME.sub("", stimulus)
        name = name or REASONS.get(stimulus, "")
        if name not in ("memory", "silent"):  # these are never expected
            restarts = address in self._restarting or "restart" in stimulus + details
            is_closed = name == "closed" and details in ON_REQUEST
            expected = expected or restarts or is_closed
        self._restarting.discard(address)
        reason = self._texts[name] + details if name else stimulus
        number = self.number(address)
        self.pages.put(FACTS, "left", number, time(), int(expected), texts=(reason,))

    def restart(self) -> None:
        """All present workers are restarted; not each of them sends an event."""
        self._restarting = set(self.present)

    def take_event(self, topic: str, event: dict[str, Any]) -> None:
        """An event of the scheduler, a worker or a nanny; most are irrelevant."""
        action = event.get("action")
        if action == "remove-worker":
            if topic == "all":
                stimulus = str(event.get("stimulus_id", ""))
                going = (bool(event.get("expected")), stimulus)
                self._leaving[str(event.get("worker"))] = going
        elif action == "closing-worker":
            why = STIMULUS_TIME.sub("", str(event.get("reason", "")))
            self._hint(topic, "closed", f": {why}")
        elif action == "worker-ttl-timed-out":
            for address in event.get("workers", ()):
                self._hint(address, "silent", f" for {event.get('ttl')} s (ttl)")
        elif topic == "worker-restart-memory":
            used = int(event.get("rss", 0)) / 1e6
            self._hint(str(event.get("worker")), "memory", f": {used:.0f} MB resident")

    def _hint(self, address: str, name: str, details: str) -> None:
        if address not in self.present or len(self._hints) >= MOST_HINTS:
            return
        if address not in self._hints or name == "memory":
            self._hints[address] = (name, details)


# ---- tasks -----------------------------------------------------------------------


class Tasks:
    """Tasks on workers, and pages of those that left them.

    The hook is called for each step of each task of the cluster, so it does little
    unless a task enters or leaves a worker. For a task that raised and is tried again
    Dask gives neither worker nor times: they are kept from its assignment.
    """

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
        self.is_ending = False  # tasks that start now are not recorded
        self.touched: set[int] = set()  # workers that got or ended a task since a tick
        self._ends: dict[str, int] = rules["ends"]
        self._ok, self._ours = self._ends["ok"], int(rules["ours"])
        self._no_worker = (int(rules["no_worker"]), UNKNOWN)
        self._most_prefixes = int(rules["most_prefixes"])
        self._open = pages.open[TASKS]
        self._pack = pages.structs["task"].pack
        self._kind = pages.numbers["task"]
        self._room = pages.page_bytes - pages.structs["task"].size

    def begin(self, address: str) -> None:
        """Tasks that are on a worker already; since when is unknown."""
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
        """The hook; written out, because it is called for every step of every task."""
        try:
            if start != "processing":
                if finish == "processing" and not self.is_ending:
                    worker = self.scheduler.tasks[key].processing_on.address
                    number = self.members.numbers[worker]
                    self.running[key] = (number, time())
                    self.touched.add(number)
                return
            if finish == "processing" or (self.is_ending and key not in self.running):
                return  # in the second case it has its row, or began too late
            task = self.scheduler.tasks[key]
            number, since = self.running.pop(key, self._no_worker)
            began, ended, now = UNKNOWN, UNKNOWN, time()
            if "worker" in more:
                number = self.members.numbers[more["worker"]]
            for part in more.get("startstops") or ():
                if part["action"] == "compute":
                    began, ended = part["start"], part["stop"]
            if not ended <= now:  # unknown, or the worker's clock estimate is off
                began, ended = began - (ended - now), now
            elif began < since:
                late = min(since - began, now - ended)
                began, ended = began + late, ended + late
            if finish == "memory":
                end = self._ok
            else:
                end = self._why(task, finish, number, stimulus_id)
            self.touched.add(number)
            self._put(task, number, end, since, began, ended)
        except Exception as error:
            if start == "processing":
                self.pages.dropped[TASKS] += 1
            self.errors.add(f"a task from {start} to {finish}", error)

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

    def _put(
        self, task: Any, number: int, end: int, since: float, began: float, ended: float
    ) -> None:
        """Pack the row of a task."""
        name, key = task.prefix.name, task.key
        prefix = self.prefixes.get(name)
        if prefix is None:
            prefix = self._prefix(name)
        if task.annotations and self.mark in task.annotations:
            end += self._ours
            self.our_prefixes.add(name)
        known = crc32(key.encode()) if type(key) is str else key_hash(key)
        data = self._open
        data += self._pack(self._kind, known, prefix, number, end, since, began, ended)
        if len(data) > self._room:
            self.pages.close_page(TASKS)

    def _prefix(self, name: str) -> int:
        """The number of a new prefix; "(other)" if there are too many."""
        number = len(self.prefixes)
        if number >= self._most_prefixes - 1:
            name = "(other)"
            if name in self.prefixes:
                return self.prefixes[name]
        self.prefixes[name] = number
        self.pages.put(FACTS, "prefix", number, texts=(name or "(none)",))
        return number

    def take_steal(self, event: Any) -> None:
        """An event of work stealing: ("confirm", key, state, from, to, ...)."""
        if not isinstance(event, (tuple, list)) or not event or event[0] != "confirm":
            return
        key, victim, thief = event[1], event[3], event[4]
        task = self.scheduler.tasks.get(key)
        if task is None or key not in self.running:
            return
        now, since = time(), self.running[key][1]
        source, target = self.members.number(victim), self.members.number(thief)
        self._put(task, source, self._ends["moved"], since, UNKNOWN, now)
        self.running[key] = (target, now)
        self.touched.update((source, target))

    def find_prefixes(self) -> Iterator[None]:
        """Add the prefixes of our running tasks; yields to let the scheduler work."""
        for done, key in enumerate(list(self.running), 1):
            task = self.scheduler.tasks.get(key)
            if task is not None and task.annotations and self.mark in task.annotations:
                self.our_prefixes.add(task.prefix.name)
            if done % PIECE_OF_TASKS == 0:
                yield

    def end(self) -> Iterator[None]:
        """Write tasks that still run; yields to let the scheduler work."""
        self.is_ending = True
        for done, (key, (number, since)) in enumerate(list(self.running.items()), 1):
            task = self.scheduler.tasks.get(key)
            if task is not None and key in self.running:
                del self.running[key]
                self._put(task, number, self._ends["running"], since, UNKNOWN, UNKNOWN)
            if done % PIECE_OF_TASKS == 0:
                yield

    def forget(self) -> None:
        """The scheduler has forgotten all tasks: how they ended is unknown."""
        self.pages.dropped[TASKS] += len(self.running)
        self.running.clear()


# ---- samples of workers ----------------------------------------------------------

seen_of = attrgetter("last_seen")
metrics_of = itemgetter(
    "memory",
    "cpu",
    "managed_bytes",
    "spilled_bytes",
    "host_net_io",
    "host_disk_io",
    "event_loop_interval",
)
READERS: dict[str, Callable[[Any], Any]] = {  # the order in which _read() packs them
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
    "gil": lambda w: w.metrics["gil_contention"],  # rare: not part of a full sample
}


class Samples:
    """Metrics that workers reported, once per tick.

    Most workers have not reported since the last tick (of n workers, each reports every
    n / 200 seconds), so a tick compares `last_seen` of all workers and reads only those
    where it changed; of workers that got or ended a task, the number of tasks. A tick
    is a generator: the scheduler works between its pieces.
    """

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
        together = [bits[name] for name in READERS][:-1]  # in the order of series
        self._full_mask = sum(1 << bit for bit in together)
        head = pages.structs["sample"].format
        self._pack_full = Struct(f"{head}{len(together)}d").pack
        self._pack_tasks = Struct(f"{head}d").pack
        self._kind = pages.numbers["sample"]
        self._workers: list[Any] = []  # these three are columns of one table
        self._pairs: list[tuple[Any, int]] = []  # a worker and its number
        self._seen: list[float] = []
        self._rows: dict[int, int] = {}  # by number of the worker, as are these:
        self._counts: dict[int, int] = {}  # tasks in its last sample
        self._fulls: dict[int, int] = {}  # full samples so far

    def join(self, state: Any) -> None:
        number = self.members.numbers[state.address]
        self.leave(state.address)
        self._rows[number] = len(self._workers)
        self._workers.append(state)
        self._pairs.append((state, number))
        self._seen.append(UNKNOWN)

    def leave(self, address: str) -> None:
        """The last row takes the place of the removed one."""
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

    def sample_last(self, address: str, tasks: int = 0) -> None:
        """Sample a worker that leaves, if it has reported since the last tick.

        Not amid a tick: what follows there would be of another time.
        """
        row = self._rows.get(self.members.numbers.get(address, -1))
        if row is None or self.pages.head:
            return
        if seen_of(self._workers[row]) == self._seen[row]:
            return
        self._begin(len(self._workers) - 1, tasks)
        try:
            self._read([self._pairs[row]])
        finally:
            self._end()

    def tick(self, tasks: int = 0, touched: Set[int] = frozenset()) -> Iterator[None]:
        """Sample the workers that changed; yields between pieces.

        `tasks` is the number on workers, `touched` workers got or ended some.
        """
        seen = list(map(seen_of, self._workers))
        moved = list(compress(self._pairs, map(ne, seen, self._seen)))
        self._seen = seen
        self._begin(len(seen), tasks)
        try:
            if touched:
                for number in touched - {number for _, number in moved}:
                    self._count_tasks(number)
            for start in range(0, len(moved), PIECE_OF_SAMPLES):
                if start:
                    yield
                self._read(moved[start : start + PIECE_OF_SAMPLES])
        finally:
            self._end()

    def _begin(self, workers: int, tasks: int) -> None:
        pages = self.pages
        threads = getattr(self.scheduler, "total_nthreads", 0)
        pages.head = pages.structs["tick"].pack(
            pages.numbers["tick"], time(), workers, threads, tasks
        )
        pages.open[SAMPLES] += pages.head

    def _end(self) -> None:
        self.pages.head = b""
        if not self.pages.counts[SAMPLES]:
            self.pages.open[SAMPLES].clear()

    def _count_tasks(self, number: int) -> None:
        """A worker that got or ended a task and has not reported."""
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
            pages.close_page(SAMPLES)

    def _read(self, moved: list[tuple[Any, int]]) -> None:
        """Full samples of these workers: the loop that takes the time of a tick."""
        pages, counts, fulls = self.pages, self._counts, self._fulls
        page, page_bytes, packed = pages.open[SAMPLES], pages.page_bytes, 0
        pack, kind, mask = self._pack_full, self._kind, self._full_mask
        for worker, number in moved:
            counts[number] = tasks = len(worker.processing)
            metrics = worker.metrics
            try:
                if "gil_contention" in metrics:
                    raise KeyError
                memory, cpu, managed, spilled, net, disk, loop = metrics_of(metrics)
                page += pack(
                    kind,
                    number,
                    mask,
                    memory,
                    worker.memory_limit or UNKNOWN,
                    tasks,
                    worker.nthreads,
                    worker.nbytes,
                    worker.occupancy if tasks else 0.0,  # the most expensive of all
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
                page += self._available(worker, number)
            packed += 1
            fulls[number] = before = fulls.get(number, -1) + 1
            if not before % DELAY_EVERY:
                self._delay(worker, number)
            if len(page) >= page_bytes:
                pages.counts[SAMPLES] += packed
                packed = 0
                pages.close_page(SAMPLES)
        pages.counts[SAMPLES] += packed

    def _available(self, worker: Any, number: int) -> bytes:
        """A sample without the values that are missing."""
        mask, values = 0, []
        for bit, read in self._readers:
            try:
                value = float(read(worker))
            except Exception:
                continue
            mask |= 1 << bit
            values.append(value)
        head = self.pages.structs["sample"].format
        return Struct(f"{head}{len(values)}d").pack(self._kind, number, mask, *values)

    def _delay(self, worker: Any, number: int) -> None:
        pages = self.pages
        try:
            item = (pages.numbers["delay"], number, float(worker.time_delay))
        except Exception as error:
            self.errors.add("the clock of a worker", error)
            return
        pages.open[SAMPLES] += pages.structs["delay"].pack(*item)
