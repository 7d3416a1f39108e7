# SPDX-License-Identifier: BSD-3-Clause
"""Causes around chunks: workers, scheduler, client, outputs, other people."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from distributed import Client, wait
from tornado.ioloop import PeriodicCallback

from trial.analyses import (
    die_once,
    give_heavy,
    large_result,
    rest,
    small_task,
    small_tasks,
)
from trial.chunk_scenarios import CALM
from trial.files import EVENTS, Files, fileset
from trial.places import DASK, ITERATIVE, PROCESSES, Opened, Place
from trial.scenarios import scenario
from trial.setups import Setup

PRELOADED = replace(DASK, options=(("preload", "coffea.processor"),))


def steady(place: Place, files: Files, chunks: int, chunk_s: float) -> Setup:
    """Chunks that rest, of as many files."""
    step = partial(rest, each_s=chunk_s / EVENTS)
    return Setup(place, fileset(data=files.copies(chunks)), (step,))


# ---- workers -------------------------------------------------------------------------


@contextlib.contextmanager
def come_late(opened: Opened, seconds: float, workers: int) -> Iterator[None]:
    """More workers are requested, and are there some seconds later."""

    def come() -> None:
        time.sleep(seconds)
        opened.client.cluster.scale(workers)

    coming = threading.Thread(target=come)
    coming.start()
    yield
    coming.join()


@scenario("waiting_for_workers")
def late_workers(files: Files) -> Setup:
    """One worker begins, and the other two come after seconds."""
    place = replace(PRELOADED, workers=1)
    setup = steady(place, files, 24, 0.7)
    hook = partial(come_late, seconds=2.0, workers=3)
    return replace(setup, inside=(hook,), is_fresh=True)


@scenario("pools")
def pool_for_each_call(files: Files) -> Setup:
    """A pool that is started for preprocessing, and another one for the chunks."""
    import loky

    place = replace(PROCESSES, pool=loky.ProcessPoolExecutor)
    return replace(steady(place, files, 8, 0.25), is_warm=False)


@scenario("worker_imports")
def cold_workers(files: Files) -> Setup:
    return replace(steady(DASK, files, 8, 0.25), is_fresh=True, is_warm=False)


@scenario(
    "workers_died",
    allowed={"worker_imports": "a worker comes in place of the dead one, and imports"},
    repeats=False,
)
def killed_worker(files: Files) -> Setup:
    setup = steady(PRELOADED, files, 16, 0.4)
    step = partial(die_once, start=0, folder=str(files.scratch("killed")))
    return replace(setup, steps=(*setup.steps, step), is_fresh=True)


@scenario("foreign_tasks")
def tasks_of_others(files: Files) -> Setup:
    @contextlib.contextmanager
    def others(opened: Opened) -> Iterator[None]:
        with Client(opened.client.cluster, set_as_default=False) as client:
            tasks = [client.submit(time.sleep, 4, pure=False) for _ in range(2)]
            while len(client.processing()) < 2:
                time.sleep(0.01)
            yield
            del tasks

    return replace(steady(DASK, files, 8, 0.4), ahead=(others,))


# ---- the scheduler -------------------------------------------------------------------


def be_busy(dask_scheduler: Any) -> None:
    """Keep the event loop busy most of the time, while chunks wait."""

    def work() -> None:
        if dask_scheduler.queued:
            time.sleep(0.5)

    busy = PeriodicCallback(work, 550)
    dask_scheduler.trial_busy = busy
    busy.start()


def be_free(dask_scheduler: Any) -> None:
    dask_scheduler.trial_busy.stop()
    del dask_scheduler.trial_busy


@scenario("no_work_sent")
def busy_scheduler(files: Files) -> Setup:
    @contextlib.contextmanager
    def busy(opened: Opened) -> Iterator[None]:
        opened.client.run_on_scheduler(be_busy)
        yield
        opened.client.run_on_scheduler(be_free)

    saturation = (("distributed.scheduler.worker-saturation", 1.0),)
    place = replace(DASK, config=saturation)  # no task in reserve
    return replace(steady(place, files, 20, 0.6), ahead=(busy,))


def short_tasks(client: Client, count: int, together: int = 1) -> int:
    """Tasks of the user's own, so many calls in each."""
    if together == 1:
        futures = client.map(small_task, range(count), pure=False)
        return sum(client.gather(futures))
    numbers = [
        list(range(n, min(n + together, count))) for n in range(0, count, together)
    ]
    return sum(map(sum, client.gather(client.map(small_tasks, numbers, pure=False))))


@scenario(
    "tasks_too_short",
    allowed={
        "client_busy": "the client collects as many results, one by one",
        "client_imports": "the client makes as many tasks before it sends them",
    },
)
def many_short_tasks(files: Files) -> Setup:
    names = {"short_tasks": short_tasks, "together": 1}
    code = "output = {'n': short_tasks(client, 4000, together)}"
    return Setup(DASK, code=code, names=names)


# ---- outputs -------------------------------------------------------------------------


def heavy_outputs(place: Place, files: Files) -> Setup:
    setup = steady(place, files, 8, 0.2)
    return replace(setup, steps=(*setup.steps, partial(give_heavy, seconds=0.5)))


@scenario("merging")
def heavy_outputs_iterative(files: Files) -> Setup:
    return heavy_outputs(ITERATIVE, files)


@scenario("merging")
def heavy_outputs_processes(files: Files) -> Setup:
    return heavy_outputs(PROCESSES, files)


@scenario("merging", allowed={"files_too_small": "fewer chunks are fewer outputs"})
def heavy_outputs_dask(files: Files) -> Setup:
    return heavy_outputs(DASK, files)


SPILLS = tuple(row for row in CALM if not row[0].endswith("target"))


def large_results(client: Client, count: int) -> int:
    """Results that stay on the workers until all are there."""
    task = partial(large_result, size_mb=25)
    futures = client.map(task, range(count), pure=False)
    wait(futures)
    return len(futures)


@scenario("spilling")
def results_on_disk(files: Files) -> Setup:
    """Results beyond 45 MB go to disk."""
    target = ("distributed.worker.memory.target", 0.03)
    options = (("memory_limit", "1500MB"),)
    place = replace(DASK, options=options, config=(*SPILLS, target))
    code = "output = {'n': large_results(client, 12)}"
    return Setup(place, code=code, names={"large_results": large_results})


# ---- the client ----------------------------------------------------------------------


@contextlib.contextmanager
def before(opened: Opened, seconds: float) -> Iterator[None]:
    time.sleep(seconds)
    yield


@contextlib.contextmanager
def afterwards(opened: Opened, seconds: float) -> Iterator[None]:
    yield
    time.sleep(seconds)


@scenario("client_imports", is_quick=True)
def busy_before(files: Files) -> Setup:
    setup = steady(DASK, files, 8, 0.4)
    return replace(setup, inside=(partial(before, seconds=3.0),))


@scenario("client_imports")
def busy_before_processes(files: Files) -> Setup:
    setup = steady(PROCESSES, files, 8, 0.4)
    return replace(setup, inside=(partial(before, seconds=3.0),))


@scenario("client_busy")
def busy_afterwards(files: Files) -> Setup:
    setup = steady(DASK, files, 8, 0.4)
    return replace(setup, inside=(partial(afterwards, seconds=3.0),))


@scenario("client_busy")
def busy_afterwards_processes(files: Files) -> Setup:
    setup = steady(PROCESSES, files, 8, 0.4)
    return replace(setup, inside=(partial(afterwards, seconds=3.0),))
