# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the worker part share: the plugin on a cluster's workers without a
collector, and workers that have everything but us."""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
import dask
from distributed import Client, LocalCluster

from clusters import await_until
from roastcoffea import track_metrics, track_time
from roastcoffea._probe import read_frames
from roastcoffea.dask import install
from scheduler_runs import workers_of

OURS = ("roastcoffea", "coffea_metrics", "_roastcoffea")
NOT_LINKED = (*OURS, "__editable__", "_editable", "__pycache__")
SECONDS = 60.0
LAST = "last"


class Reported(NamedTuple):
    """One event of a worker."""

    worker: str
    key: str
    records: list[Mapping[str, Any]]
    words: list[str]


class Plugged:
    """A run that the workers of a client know, and what they tell it."""

    def __init__(self, client: Client, mark: str = "") -> None:
        self.client = client
        self.mark = mark or "roastcoffea-" + secrets.token_hex(8)
        self.reported: list[Reported] = []
        self._came = threading.Condition()

    def __enter__(self) -> Plugged:
        self.client.subscribe_topic(self.mark, self._hear)
        with self._came:  # the scheduler knows of it at some time
            while not self.reported:
                self.client.log_event(self.mark, ["", "", b"", "hello"])
                self._came.wait(0.1)
        self.client.sync(
            self.client.scheduler.register_worker_plugin,
            plugin=install.worker_plugin(self.mark),
            name=self.mark,
            idempotent=False,
        )
        return self

    def __exit__(self, *exc: object) -> None:
        self.leave()
        self.client.unsubscribe_topic(self.mark)

    def leave(self) -> None:
        """The run ends on the workers."""
        with contextlib.suppress(ValueError):  # it has
            self.client.sync(
                self.client.scheduler.unregister_worker_plugin, name=self.mark
            )

    def _hear(self, event: Any) -> None:
        worker, key, frames, *words = event[1]
        with self._came:
            records = read_frames(frames)
            self.reported.append(Reported(worker, key, records, words))
            self._came.notify_all()

    def tasks(self) -> Any:
        """Tasks sent from here are of the run."""
        return dask.annotate(**{self.mark: True})

    def status(self, workers: int = 1) -> list[str]:
        """What so many workers said of themselves."""
        self._await(lambda: len(self._words()) >= workers)
        return self._words()

    def _words(self) -> list[str]:
        said = [each.words[0] for each in self.reported if each.words and each.worker]
        return [word for word in said if word != LAST]

    def last_words(self, workers: int = 1) -> list[Reported]:
        """The last words of so many workers."""
        self._await(lambda: len(self._lasts()) >= workers)
        return self._lasts()

    def _lasts(self) -> list[Reported]:
        return [each for each in self.reported if each.words[:1] == [LAST]]

    def records(self, kind: str, count: int) -> list[Mapping[str, Any]]:
        """So many records of a kind, as soon as they are here; no more than that."""
        self._await(lambda: len(self.of(kind)) >= count)
        found = self.of(kind)
        assert len(found) == count, found
        return found

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [
            x for each in list(self.reported) for x in each.records if x.kind == kind
        ]

    def _await(self, condition: Any) -> None:
        with self._came:
            assert self._came.wait_for(condition, SECONDS), self.reported

    def all(self) -> list[Reported]:
        """Everything that was reported until now: a last event comes after it."""
        sign = secrets.token_hex(4)
        self.client.run(say, self.mark, sign)
        self._await(lambda: any(sign in each.words for each in self.reported))
        return [each for each in self.reported if sign not in each.words]


def say(mark: str, sign: str, dask_worker: Any) -> None:
    """In the process of a worker."""
    dask_worker.log_event(mark, ["", "", b"", sign])


def open_cluster(request: Any) -> Iterator[Client]:
    """A client of two workers with two threads; for a fixture, whose parameter says
    whether they are processes."""
    options = {"threads_per_worker": 2, "dashboard_address": None}
    with (
        LocalCluster(n_workers=2, processes=request.param, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def plug(client: Client) -> Iterator[Plugged]:
    """A run that both of them know; for a fixture."""
    with Plugged(client) as plugged:
        assert all(status.startswith("measured") for status in plugged.status(2))
        yield plugged


def addresses(client: Client) -> set[str]:
    return set(workers_of(client))


def make_function() -> Any:
    """A decorated function by value, as from a notebook."""

    @track_metrics
    def count(events: Any) -> Any:
        with track_time(None, "counting"):
            return {"n": len(events)}

    return count


def one(client: Client, function: Any, *args: Any) -> Any:
    """What one task gives."""
    return client.submit(function, *args, pure=False).result()


# ---- workers without us --------------------------------------------------------------


def open_scheduler(*modules: Any) -> Iterator[Client]:
    """A client of a cluster without workers, and of modules that the workers to come
    cannot import; for a fixture."""
    here = [sys.modules[__name__], *modules]
    for module in here:
        cloudpickle.register_pickle_by_value(module)
    cluster = LocalCluster(n_workers=0, dashboard_address=None)
    with cluster, Client(cluster) as client:
        yield client
    for module in here:
        cloudpickle.unregister_pickle_by_value(module)


def link_others(folder: Path) -> Path:
    """A folder with everything that is installed here, but us."""
    folder.mkdir()
    places = {
        Path(str(importlib.import_module(name).__file__)).parents[1]
        for name in ("distributed", "coffea", "numpy")
    }
    for entry in (entry for place in sorted(places) for entry in place.iterdir()):
        skipped = entry.name.startswith(NOT_LINKED) or entry.suffix == ".pth"
        if not skipped and not (folder / entry.name).exists():
            (folder / entry.name).symlink_to(entry)
    return folder


@contextlib.contextmanager
def dask_worker(
    client: Client, *path: Path, python: str = sys.executable, **environment: str
) -> Iterator[str]:
    """A worker in an interpreter that finds packages in these folders; its name."""
    name = "w" + secrets.token_hex(4)
    options = ["--nthreads=2", "--no-nanny", "--no-dashboard", f"--name={name}"]
    scratch = path[0].parent / name
    searched = os.pathsep.join(map(str, path))
    program = [python, "-P", "-S", "-m", "distributed.cli.dask_worker"]
    options.append(f"--local-directory={scratch}")
    started = subprocess.Popen(
        [*program, client.scheduler.address, *options],
        env=os.environ | {"PYTHONPATH": searched} | environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        await_until(lambda: name in names(client))
        yield name
    finally:
        started.kill()
        started.wait()
        await_until(lambda: name not in names(client))


def names(client: Client) -> set[str]:
    workers = workers_of(client)
    return {str(worker["name"]) for worker in workers.values()}


def look(dask_worker: Any) -> dict[str, Any]:
    """Everything in a worker's process that the plugin touches."""
    return {
        "modules": sorted(x for x in sys.modules if "roast" in x or "coffea_m" in x),
        "finders": [type(finder).__name__ for finder in sys.meta_path],
        "path": list(sys.path),
        "plugins": sorted(dask_worker.plugins),
        "attributes": sorted(x for x in vars(dask_worker) if "roast" in x),
        "files": sorted(os.listdir(dask_worker.local_directory)),
        "threads": [x.name for x in threading.enumerate() if "roast" in x.name],
    }


def state(client: Client) -> dict[str, Any]:
    """That of the only worker."""
    (found,) = client.run(look).values()
    return dict(found)


def libraries() -> int:
    """How many copies of the extension this process has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split()[-1] for line in lines if "_probe.abi3.so" in line})
