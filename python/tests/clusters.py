# SPDX-License-Identifier: BSD-3-Clause
"""What the tests on Dask share: a cluster of two processes, processors for it, and a
look at everything that a run must leave on it as it was.

Processors live in a module, not in tests, so that workers can import them.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import dask
import hist
from coffea import processor
from coffea.nanoevents import BaseSchema
from coffea.processor import Runner
from distributed import Client, LocalCluster

from collector_helpers import CHUNKS, EVENTS, Measured, Plain, fileset_of
from roastcoffea import MetricsCollector, track_metrics
from roastcoffea._core import batch_items, batch_rules
from roastcoffea.dask.batches import Batches
from scheduler_runs import GONE_S, until
from sharing import kept

ENDS = {number: name for name, number in batch_rules()["ends"].items()}


def start_cluster(workers: int = 2, **options: Any) -> LocalCluster:
    options = {"threads_per_worker": 1} | options
    return LocalCluster(
        n_workers=workers, dashboard_address=None, silence_logs=False, **options
    )


def open_client(**options: Any) -> Iterator[Client]:
    """A client of a cluster of its own; for a fixture, as it takes seconds to start.

    A cluster gives up a worker that dies twice within seconds: not here.
    """
    patient = {"distributed.deploy.lost-worker-timeout": "1 hour"}
    with (
        dask.config.set(patient),
        start_cluster(**options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def shared_client() -> Iterator[Client]:
    """The same cluster for every file whose fixture this is; no test may harm it."""
    client = kept.use(open_client)
    client.wait_for_workers(2)
    yield client


def on_dask(client: Any, **options: Any) -> Any:
    return processor.DaskExecutor(client=client, status=False, **options)


def dask_runner(client: Any, chunks: int = CHUNKS, **options: Any) -> Runner:
    """A Runner whose chunks are tasks of a client."""
    executor = options.pop("executor", None) or on_dask(client)
    options = {"schema": BaseSchema, "savemetrics": True} | options
    return Runner(executor, chunksize=EVENTS // chunks, **options)


def collect(client: Any, file: Path, analysis: Any, **options: Any) -> Any:
    """A collector around one run on Dask, and what that run gave."""
    with MetricsCollector(client, **options) as collector:
        result = dask_runner(client)(fileset_of(file), processor_instance=analysis)
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    return collector, result


class Histograms(Plain):
    """Gives a histogram, which can carry no key of ours."""

    @track_metrics
    def process(self, events: Any) -> Any:
        filled = hist.Hist.new.Reg(10, 0, 1).Double()
        return filled.fill(ak.to_numpy(ak.flatten(events.Hit_value)))


class Once:
    """Something that is done the first time only, in whatever process that is."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __call__(self, name: object) -> bool:
        try:
            os.close(os.open(f"{self.folder}/{name}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


class FirstTime(Measured):
    """Does something the first time it meets certain chunks."""

    def __init__(self, folder: Path, entries: set[int]) -> None:
        self.once = Once(folder)
        self.entries = entries

    def is_first(self, events: Any) -> bool:
        start = events.metadata["entrystart"]
        return start in self.entries and self.once(start)


class Dying(FirstTime):
    """Kills its worker."""

    @track_metrics
    def process(self, events: Any) -> Any:
        if self.is_first(events):
            time.sleep(0.2)  # work that is lost
            os.kill(os.getpid(), signal.SIGKILL)
        return Plain.process(self, events)


class Stumbling(FirstTime):
    """Raises: Dask tries the chunk again."""

    @track_metrics
    def process(self, events: Any) -> Any:
        if self.is_first(events):
            raise ValueError("the first time")
        return Plain.process(self, events)


class Calling(Measured):
    """Does something in one chunk; ``action`` is called with the folder."""

    def __init__(self, folder: Path, action: Callable[[str], None]) -> None:
        self.folder = str(folder)
        self.action = action

    @track_metrics
    def process(self, events: Any) -> Any:
        if events.metadata["entrystart"] == 0:
            self.action(self.folder)
        return Plain.process(self, events)


def wait_for_file(folder: str) -> None:
    """Wait until the file ``go`` exists there; it writes ``here`` first."""
    Path(folder, "here").touch()
    while not Path(folder, "go").exists():
        time.sleep(0.01)


def wait_in_turn(folder: str) -> None:
    """The first caller waits for the file ``first``, the others for ``second``."""
    name = "first" if Once(Path(folder))("turn") else "second"
    while not Path(folder, name).exists():
        time.sleep(0.01)


await_until = until


# ---- events of the scheduler ------------------------------------------------------


class Received:
    """A second reader of what the scheduler's plugin reports, in Python."""

    def __init__(self, monkeypatch: Any) -> None:
        self.tasks: list[dict[str, Any]] = []
        self.left: list[dict[str, Any]] = []
        self._items = {row[0]: (name, *row[1:]) for name, row in batch_items().items()}
        self._names: dict[str, dict[int, str]] = {"worker": {}, "prefix": {}}
        take = Batches.take

        def listen(batches: Batches, pages: Any) -> Any:
            for number, page in pages:
                if number > batches.after:
                    self._read(bytes(page))
            return take(batches, pages)

        monkeypatch.setattr(Batches, "take", listen)

    def _read(self, page: bytes) -> None:
        at = 0
        while at < len(page):
            name, letters, texts = self._items[page[at]]
            layout = struct.Struct("<" + letters)
            values = layout.unpack_from(page, at + 1)
            at += 1 + layout.size
            words = []
            for _ in range(texts):
                size = int.from_bytes(page[at : at + 2], "little")
                words.append(page[at + 2 : at + 2 + size].decode())
                at += 2 + size
            if name == "sample":
                at += 8 * values[1].bit_count()
            elif name == "frames":
                at += values[2]
            self._take(name, values, words)

    def _take(self, name: str, values: Any, words: list[str]) -> None:
        if name in self._names:
            self._names[name][values[0]] = words[0]
        elif name == "left":
            worker = self._names["worker"][values[0]]
            reported = {"worker": worker, "expected": values[2], "reason": words[0]}
            self.left.append(reported)
        elif name == "task":
            _, prefix, worker, end, _, start, stop = values
            self.tasks.append(
                {
                    "prefix": self._names["prefix"][prefix],
                    "worker": self._names["worker"].get(worker),
                    "ours": end >= 128,
                    "end": ENDS[end % 128],
                    "start": start,
                    "stop": stop,
                }
            )


# ---- what is on a cluster ------------------------------------------------------------


def scheduler_state(dask_scheduler: Any) -> dict[str, Any]:
    """Everything on a scheduler that a run of ours touches."""
    scheduler = dask_scheduler
    return {
        "plugins": sorted(scheduler.plugins),
        "worker_plugins": sorted(scheduler.worker_plugins),
        "handlers": sorted(scheduler.handlers),
        "stream_handlers": sorted(scheduler.stream_handlers),
        "topics": sorted(t for t in scheduler._broker._topics if "roast" in t),
        "attributes": sorted(a for a in vars(scheduler) if "roast" in a),
        "callbacks": sorted(scheduler.periodic_callbacks),
        "modules": [m for m in sys.modules if m.startswith("_roast")],
        "path": list(sys.path),
    }


def worker_state(dask_worker: Any) -> dict[str, Any]:
    """Everything in a worker's process that a run of ours touches."""
    coffea = sys.modules.get("coffea.processor.executor")
    uproot = sys.modules.get("uproot")
    return {
        "plugins": sorted(dask_worker.plugins),
        "attributes": sorted(a for a in vars(dask_worker) if "roast" in a),
        "metrics": sorted(map(str, dask_worker.metrics)),
        "handlers": sorted(dask_worker.handlers),
        "path": list(sys.path),
        "finders": [repr(type(finder)) for finder in sys.meta_path],
        "hooks": [
            getattr(getattr(uproot, "open", None), "__module__", None),
            getattr(getattr(coffea, "_compress", None), "__module__", None),
        ],
        "files": sorted(os.listdir(dask_worker.local_directory)),
    }


def worker_modules(dask_worker: Any) -> list[str]:
    """Modules that a run has made there; what is installed may be imported."""
    names = (name for name in sys.modules if "roast" in name)
    return sorted(name for name in names if name.split(".")[0] != "roastcoffea")


class Surrounded:
    """What must be the same on a cluster after a run, and soon."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.before = self.now()
        ends = time.monotonic() + GONE_S  # an earlier run may still be leaving
        while "roastcoffea-" in str(self.before) and time.monotonic() < ends:
            self.before = self.now()

    def now(self) -> dict[str, Any]:
        workers = self.client.run(worker_state)
        scheduler = self.client.run_on_scheduler(scheduler_state)
        return {"scheduler": scheduler} | workers

    def differences(self) -> list[str]:
        now, found = self.now(), []
        for who in self.before.keys() & now.keys():
            for what, was in self.before[who].items():
                if now[who][what] != was:
                    found.append(f"{who} {what}: {was} -> {now[who][what]}")
        for who in now.keys() - self.before.keys():  # a worker that came meanwhile
            for what in ("plugins", "attributes", "metrics", "handlers", "finders"):
                if "roast" in str(now[who][what]):
                    found.append(f"{who} {what}: {now[who][what]}")
        return found

    def check(self) -> None:
        """As it was, or soon; only a look that began too late may fail it."""
        ends, is_late = time.monotonic() + GONE_S, False
        while found := self.differences():
            assert not is_late, found
            is_late = time.monotonic() > ends
            time.sleep(0.05)
