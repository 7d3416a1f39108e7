# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler part on a real scheduler: how tasks end, and who comes and goes."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
from distributed import Client, Event, get_worker

from scheduler_runs import DEADLINE_S, Run, ours, two_workers, until, workers_of

shared = pytest.fixture(scope="module")(two_workers)  # that no test harms
own = pytest.fixture(two_workers)  # to be killed


def double(x: int) -> int:
    return 2 * x


def fail(x: int) -> int:
    raise ValueError(x)


def hold(begun: str, end: str) -> str:
    """Report that it runs, and run until released."""
    Event(begun).set()
    Event(end).wait()
    return get_worker().address


@contextlib.contextmanager
def events(run: Run) -> Iterator[tuple[Event, Event]]:
    """What hold() sets and waits for; no task waits when a test has failed."""
    begun, end = Event(run.mark + "b"), Event(run.mark + "e")
    try:
        yield begun, end
    finally:
        end.set()


def _place(key: str, dask_scheduler: Any) -> str:
    task = dask_scheduler.tasks.get(key)
    return task.processing_on.address if task and task.processing_on else ""


def place(future: Any) -> str:
    """The worker that has a task, as soon as one has."""
    return until(lambda: future.client.run_on_scheduler(_place, future.key))


def test_tasks_that_end_by_themselves(shared: Client) -> None:
    run = Run(shared).start()
    before = time.time()
    with ours(run):
        shared.gather(shared.map(double, range(5), pure=False))
        with pytest.raises(ValueError, match="1"):
            shared.submit(fail, 1, pure=False, retries=2).result()
    shared.submit(double, 7, pure=False).result()
    run.stop()
    found = Counter((task.prefix, task.end, task.ours) for task in run.read.tasks)
    assert found == {
        ("double", "ok", True): 5,
        ("double", "ok", False): 1,
        ("fail", "retried", True): 2,
        ("fail", "failed", True): 1,
    }
    for task in run.read.tasks:
        assert task.worker in workers_of(shared)
        assert before <= task.assigned <= task.stop <= time.time()
        assert task.end == "retried" or task.start <= task.stop


def test_a_cancelled_task_and_one_that_goes_on(shared: Client) -> None:
    run = Run(shared).start()
    with ours(run), events(run) as (begun, end):
        future = shared.submit(hold, begun.name, end.name, pure=False)
        begun.wait()
        future.cancel()
        until(lambda: run.pull() and run.read.of("hold"))
        again = shared.submit(hold, begun.name, end.name, pure=False)
        worker = place(again)
        run.stop()
    first, second = run.read.of("hold")
    assert (first.end, second.end) == ("cancelled", "running")
    assert first.stop >= first.assigned
    assert second.worker == worker
    assert again.result()


def test_what_was_on_workers_already_is_noted(shared: Client) -> None:
    run = Run(shared)
    with events(run) as (begun, end):
        future = shared.submit(hold, begun.name, end.name, pure=False)
        begun.wait()
        run.start()
    worker = future.result()
    run.stop()
    (task,) = run.read.of("hold")
    assert task.worker == worker
    assert (task.end, task.ours) == ("ok", False)
    assert task.assigned != task.assigned  # since when is not known


def test_a_stolen_task_is_where_it_ran(shared: Client) -> None:
    run = Run(shared).start()
    victim, thief = workers_of(shared)
    only, mostly = {"workers": victim}, {"workers": victim, "allow_other_workers": True}
    with ours(run), events(run) as (begun, end):
        first = shared.submit(hold, begun.name, end.name, **only, key="first")
        begun.wait()
        second = shared.submit(double, 4, **mostly, key="second")
        until(lambda: shared.run_on_scheduler(_steal, "second", victim, thief))
        assert second.result() == 8
    first.result()
    run.stop()
    moved, ran = run.read.of("second")
    assert (moved.end, moved.worker) == ("moved", victim)
    assert (ran.end, ran.worker) == ("ok", thief)
    assert moved.assigned <= moved.stop == ran.assigned <= ran.stop
    assert moved.hash == ran.hash == crc32(b"second")


def _steal(key: str, victim: str, thief: str, dask_scheduler: Any) -> bool:
    """Whether the victim has it no more; Dask may have been quicker."""
    workers, task = dask_scheduler.workers, dask_scheduler.tasks.get(key)
    if task is None or task.state == "waiting":
        return False
    if task.processing_on is not workers[victim]:
        return True
    stealing = dask_scheduler.extensions["stealing"]
    stealing.move_task_request(task, workers[victim], workers[thief])
    return False


def test_a_killed_worker_loses_its_task(own: Client) -> None:
    run = Run(own).start()
    pids = own.run(os.getpid)
    with ours(run), events(run) as (begun, end):
        future = own.submit(hold, begun.name, end.name, pure=False)
        begun.wait()
        busy = place(future)
        begun.clear()
        os.kill(pids[busy], signal.SIGKILL)
        begun.wait()
    second = future.result()
    until(lambda: run.pull() and len(run.read.joined) == 3)
    run.stop()
    lost, found = run.read.of("hold")
    assert (lost.end, lost.worker, lost.ours) == ("lost", busy, True)
    assert (found.end, found.worker) == ("ok", second)
    assert second != busy
    ((who, when, expected, why),) = run.read.left
    assert (who, expected, why) == (busy, False, "the connection to it was lost")
    assert lost.assigned <= lost.stop <= when
    assert set(pids) < {row[0] for row in run.read.joined}


def test_a_retired_worker_is_expected_to_leave(own: Client) -> None:
    client = own
    run = Run(client).start()
    first, second = workers_of(client)
    client.retire_workers([first])
    until(lambda: run.pull() and run.read.left)
    client.run(_close_it, workers=[second], wait=False)
    until(lambda: run.pull() and len(run.read.left) > 1)
    run.stop()
    (who, _, expected, why), (other, _, reported, words) = run.read.left
    assert (who, expected) == (first, True)
    assert why
    assert (other, reported) == (second, False)
    assert words == "it closed: enough of it"


async def _close_it(dask_worker: Any) -> None:
    await dask_worker.close(reason="enough of it", nanny=False)


def test_who_joins_is_known(own: Client) -> None:
    client, cluster = own, own.cluster
    run = Run(client).start()
    cluster.scale(3)
    client.wait_for_workers(3)
    reported = workers_of(client)
    pids = client.run(os.getpid)
    run.stop()
    assert len(run.read.joined) == 3
    for address, when, threads, memory, pid, name, host in run.read.joined:
        assert abs(when - time.time()) < DEADLINE_S
        assert (threads, pid) == (1, pids[address])
        assert memory == reported[address]["memory_limit"]
        assert (name, host) == (str(reported[address]["name"]), "127.0.0.1")
