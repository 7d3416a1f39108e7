# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scheduler part without a collector, and reads what it sends by itself.

The reader is a second opinion on dask_batch_items.def: the one that counts is C's. For
test_dask_scheduler.py and test_dask_scale.py.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from roastcoffea import _core
from roastcoffea.dask import install

INCLUDE = Path(__file__).parents[2] / "include" / "roast"
ROW = re.compile(r'^I\((\d+), (\w+), "(\w+)", (\d+),', re.MULTILINE)
TOKEN = "the token of the run"
DEADLINE_S = 60.0
GONE_S = 5.0  # after which nothing of a run is left: the promise, not what it takes
SERIES = re.compile(r"^S\((\w+), ", re.MULTILINE)
END = re.compile(r"^E\((\d+), (\w+), ", re.MULTILINE)


def items() -> dict[str, tuple[int, str, int]]:
    """dask_batch_items.def: {name: (number, format, texts)}."""
    found = ROW.findall((INCLUDE / "dask_batch_items.def").read_text())
    return {
        name: (int(number), form, int(texts)) for number, name, form, texts in found
    }


def series() -> list[str]:
    return SERIES.findall((INCLUDE / "series.def").read_text())


def ends() -> dict[int, str]:
    found = END.findall((INCLUDE / "task_ends.def").read_text())
    return {int(number): name for number, name in found}


def new_mark() -> str:
    return "roastcoffea-" + secrets.token_hex(8)


def payload(mark: str, client: str = "", **more: Any) -> dict[str, Any]:
    """What the plugin takes; no samples by default."""
    return {
        "mark": mark,
        "items": items(),
        "rules": _core.batch_rules(),
        "series": series(),
        "interval": None,
        "client": client,
        "worker_plugin": None,
        "python": "",
        "token": TOKEN,
        "leave_function": install.scheduler_payload("", "", None)["leave_function"],
        **more,
    }


class Task(NamedTuple):
    """A task of a page."""

    prefix: str
    worker: str
    end: str
    ours: bool
    hash: int
    assigned: float
    start: float
    stop: float


class Read:
    """What pages say, in the order in which they said it."""

    def __init__(self) -> None:
        self.kinds = {
            n: (name, form, texts) for name, (n, form, texts) in items().items()
        }
        self.workers: dict[int, str] = {}
        self.prefixes: dict[int, str] = {}
        self.ticks: list[tuple[Any, ...]] = []
        self.samples: list[tuple[float, str, dict[str, float]]] = []
        self.joined: list[tuple[Any, ...]] = []
        self.left: list[tuple[str, float, bool, str]] = []
        self.tasks: list[Task] = []
        self.frames: list[tuple[str, int, bytes]] = []
        self.delays: list[tuple[str, float]] = []
        self.dropped = (0, 0, 0)
        self._ends = ends()
        self._series = series()
        self.core = _core.Run(0, 0)

    def add(self, page: bytes) -> None:
        """Read a page, and let C read it."""
        self.core.add_batch(page, 0)
        at, self._now = 0, None
        while at < len(page):
            name, form, texts = self.kinds[page[at]]
            fields = struct.unpack_from("<" + form, page, at + 1)
            at += 1 + struct.calcsize("<" + form)
            said = []
            for _ in range(texts):
                (size,) = struct.unpack_from("<H", page, at)
                said.append(page[at + 2 : at + 2 + size].decode())
                at += 2 + size
            at += getattr(self, "_" + name)(page, at, *fields, *said) or 0
        assert at == len(page)

    def _tick(self, page: bytes, at: int, *fields: Any) -> None:
        self._now = fields[0]
        self.ticks.append(fields)

    def _worker(self, page: bytes, at: int, number: int, address: str) -> None:
        assert number == len(self.workers)
        self.workers[number] = address

    def _prefix(self, page: bytes, at: int, number: int, name: str) -> None:
        assert number == len(self.prefixes)
        self.prefixes[number] = name

    def _joined(self, page: bytes, at: int, number: int, *rest: Any) -> None:
        self.joined.append((self.workers[number], *rest))

    def _left(
        self, page: bytes, at: int, number: int, when: float, reported: int, why: str
    ) -> None:
        self.left.append((self.workers[number], when, bool(reported), why))

    def _task(
        self, page: bytes, at: int, key: int, prefix: int, worker: int, end: int, *times
    ) -> None:
        where = "" if worker == 0xFFFFFFFF else self.workers[worker]
        how = self._ends[end % 128]
        self.tasks.append(
            Task(self.prefixes[prefix], where, how, end >= 128, key, *times)
        )

    def _frames(self, page: bytes, at: int, worker: int, key: int, size: int) -> int:
        assert at + size <= len(page)
        self.frames.append((self.workers[worker], key, page[at : at + size]))
        return size

    def _delay(self, page: bytes, at: int, worker: int, seconds: float) -> None:
        self.delays.append((self.workers[worker], seconds))

    def _dropped(self, page: bytes, at: int, *counts: int) -> None:
        self.dropped = counts

    def _sample(self, page: bytes, at: int, worker: int, mask: int) -> int:
        names = [name for n, name in enumerate(self._series) if mask >> n & 1]
        values = struct.unpack_from(f"<{len(names)}d", page, at)
        assert self._now is not None, "a sample before the first tick of its page"
        self.samples.append(
            (self._now, self.workers[worker], dict(zip(names, values, strict=True)))
        )
        return 8 * len(names)

    def of(self, prefix: str) -> list[Task]:
        return [task for task in self.tasks if task.prefix == prefix]


class Run:
    """The scheduler part of one run on a real scheduler."""

    def __init__(self, client: Any, **more: Any) -> None:
        self.client = client
        self.mark = new_mark()
        self.read = Read()
        self.after = 0
        self.send(**more)

    def send(self, **more: Any) -> None:
        """Make what is sent, with this in its payload."""
        self.plugin = install.scheduler_plugin(
            payload(self.mark, self.client.id, **more)
        )

    def start(self) -> Run:
        self.client.sync(
            self.client.scheduler.register_scheduler_plugin,
            plugin=self.plugin,
            name=self.mark,
            idempotent=False,
        )
        return self

    def ask(self, name: str, **more: Any) -> dict[str, Any]:
        answer = self.client.sync(
            getattr(self.client.scheduler, f"{self.mark}_{name}"),
            **{"token": TOKEN, **more},
        )
        for number, page in answer.get("pages", ()):
            assert number > self.after
            self.after = number
            self.read.add(bytes(page))
        return answer

    def pull(self) -> dict[str, Any]:
        answer = self.ask("pull", after=self.after)
        while answer["more"]:
            answer = self.ask("pull", after=self.after)
        return answer

    def stop(self, **more: Any) -> dict[str, Any]:
        answer = self.ask("stop", after=self.after, **more)
        if answer["more"]:
            self.pull()
        assert answer["errors"] == 0, answer["error"]
        return answer


def traces(mark: str, dask_scheduler: Any) -> list[str]:
    """What a scheduler has of ours."""
    places = {
        "plugins": dask_scheduler.plugins,
        "handlers": dask_scheduler.handlers,
        "worker plugins": dask_scheduler.worker_plugins,
        "topics": dask_scheduler._broker._topics,
    }
    return [
        name for name, place in places.items() if any(mark in str(k) for k in place)
    ]


def traces_of(client: Any, mark: str) -> list[str]:
    """On the scheduler and on its workers."""
    found = client.run_on_scheduler(traces, mark)
    plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    return found + [where for where, names in plugins.items() if mark in names]


def until(true: Callable[[], Any], seconds: float = DEADLINE_S) -> Any:
    """Ask again until it is so. A look that began in time counts: it may be slow."""
    ends = time.monotonic() + seconds
    while True:
        looked = time.monotonic()
        if answer := true():
            return answer
        assert looked < ends, f"it did not come to pass within {seconds} s"
        time.sleep(0.02)


def soon_gone(client: Any, mark: str) -> None:
    """Nothing of a run that ends now is left when it must not be."""
    until(lambda: not traces_of(client, mark), GONE_S)


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """A client of a cluster with so many worker processes."""
    from distributed import Client, LocalCluster

    made = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**made, processes=True) as cluster, Client(cluster) as client:
        yield client


def two_workers() -> Iterator[Any]:
    """What fixtures are made of."""
    with cluster_of(2) as client:
        yield client


def workers_of(client: Any) -> dict[str, Any]:
    """{address: the scheduler's data of it}, requested now: the client refreshes its
    own copy, without workers, whenever it likes."""
    reported: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=-1)
    return reported["workers"]  # type: ignore[no-any-return]


@contextlib.contextmanager
def ours(run: Run) -> Iterator[str]:
    """Tasks that are sent from here belong to the run."""
    import dask
    from distributed import span

    with span("a run") as span_id, dask.annotate(**{run.mark: True}):
        yield span_id
