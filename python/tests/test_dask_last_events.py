# SPDX-License-Identifier: BSD-3-Clause
"""What a worker says when a run ends on it: everything that waited, and then a last
word with the number of messages that it could not send."""

from __future__ import annotations

import asyncio
import functools
import threading
from pathlib import Path

import pytest
from coffea.processor.executor import WorkItem
from distributed import Client, LocalCluster, get_worker
from distributed.comm import CommClosedError
from distributed.core import Status

from clusters import await_until
from roastcoffea.coffea import work_function
from roastcoffea.coffea.work_function import Token, WorkFunction
from roastcoffea.dask import install, task
from roastcoffea.dask.task import Place
from roastcoffea.dask.worker_plugin import leave
from support import Events
from worker_plugins import (
    LAST,
    SECONDS,
    Plugged,
    dask_worker,
    link_others,
    make_function,
    one,
)

CALLS = 3  # the first is sent at once, the others together


@pytest.fixture
def client():
    """One worker, in this process."""
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with LocalCluster(processes=False, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def worker(client):
    return client.cluster.workers[0]


@pytest.fixture
def received(client):
    with Plugged(client) as received:
        assert received.status()[0].startswith("measured")
        yield received


@pytest.fixture
def held_back(monkeypatch):
    monkeypatch.setattr(task, "OUTBOX_WAIT_S", 1e6)


def hold_back():
    """In the process of a worker: what waits is not sent by itself."""
    from roastcoffea.dask import task

    task.OUTBOX_WAIT_S = 1e6


def make_task():
    count = make_function()

    def task():
        return sum(count(Events(2))["n"] for _ in range(CALLS))

    return task


def run_task(client, received):
    with received.tasks():
        assert one(client, make_task()) == 2 * CALLS
    assert len(received.records("chunk", 1)) == 1


def check_end(received, lost=0):
    """One worker has said its last word, and nothing after it."""
    (last,) = received.last_words()
    assert last.words == [LAST, str(lost)]
    assert received.all()[-1] is last


def become(status, dask_worker):
    """In the event loop of a worker."""
    dask_worker.memory_manager.memory_pause_fraction = False  # or it goes on at once
    dask_worker.status = Status[status]


def is_idle(dask_scheduler):
    return not dask_scheduler.tasks


@pytest.mark.parametrize("status", ["running", "paused", "closing_gracefully"])
def test_everything_is_sent_by_a_worker_that_runs(client, received, held_back, status):
    run_task(client, received)
    client.run(become, status)
    received.leave()
    received.records("chunk", CALLS)
    received.records("end", CALLS)
    check_end(received)


@pytest.mark.parametrize("status", ["running", "paused"])
def test_worker_that_runs_sends_a_last_heartbeat(client, worker, received, status):
    beats = []
    beat = worker.heartbeat

    async def heartbeat():
        beats.append(worker.status.name)
        await beat()

    client.run(become, status)
    worker.periodic_callbacks["heartbeat"].stop()
    worker.heartbeat = heartbeat
    received.leave()
    check_end(received)
    assert beats == [status]


def test_everything_is_sent_by_a_worker_that_is_retired(tmp_path):
    """A process of its own, as it is when a cluster gets smaller."""
    others, ours = link_others(tmp_path / "site"), Path(install.__file__).parents[2]
    tests = Path(__file__).parent
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        Client(cluster) as client,
        dask_worker(client, others, ours, tests) as name,
        Plugged(client) as received,
    ):
        client.run(hold_back)
        run_task(client, received)
        await_until(lambda: client.run_on_scheduler(is_idle))  # or it is still needed
        assert client.retire_workers(names=[name])
        received.records("chunk", CALLS)
        (last,) = received.last_words()
        assert last.words == [LAST, "0"]
        assert received.reported[-1] is last


def lose_frames(worker, received):
    """From now on a worker can say words only."""
    log_event = worker.log_event

    def fail(topic, message):
        if topic == received.mark and message[2]:
            raise CommClosedError("closing")
        log_event(topic, message)

    worker.log_event = fail


def test_what_cannot_be_sent_is_counted(client, worker, received, held_back):
    lose_frames(worker, received)
    with received.tasks():
        assert one(client, make_task()) == 2 * CALLS
    received.leave()
    check_end(
        received, lost=3
    )  # begin and end of the first call, and the others together
    assert received.of("chunk") == []


def fail(item):
    raise KeyError("mine")


def leave_and_fail(mark, item):
    """The run ends on this worker while the attempt goes on."""
    worker = get_worker()
    leaving = worker.plugin_remove(name=mark)
    loop = worker.loop.asyncio_loop
    asyncio.run_coroutine_threadsafe(leaving, loop).result(SECONDS)
    fail(item)


def attempt(client, received, function):
    token = Token(bytes(16), 7, (), False, marks=(received.mark,))
    item = WorkItem("ttbar", "/data/a.root", "Events", 0, 10, b"0" * 16)
    with pytest.raises(KeyError, match="mine"):
        one(client, WorkFunction(function, token), item)


def test_failed_attempt_that_cannot_be_sent_is_lost_once(client, worker, received):
    """It is counted, so no result brings it later."""
    lose_frames(worker, received)
    attempt(client, received, fail)
    assert not work_function._waiting
    received.leave()
    check_end(received, lost=2)  # its begin and its end


def test_attempt_that_fails_after_the_run_leaves_nothing(client, received):
    attempt(client, received, functools.partial(leave_and_fail, received.mark))
    assert not work_function._waiting
    check_end(received)
    assert len(received.of("begin")) == 1
    assert received.of("end") == []


def test_last_word_is_behind_what_threads_have_sent(client, worker, received):
    """A thread leaves it to the event loop to send: it has not yet when a run ends."""

    async def leave(mark, dask_worker):
        place = Place(dask_worker, dask_worker.address, "of-a-thread", (mark,), 0.0)
        thread = threading.Thread(target=place.send, args=(b"",))
        thread.start()
        thread.join()
        await dask_worker.plugin_remove(name=mark)

    client.run(leave, received.mark)
    check_end(received)
    assert "of-a-thread" in {each.key for each in received.reported}


def test_run_that_ends_while_threads_send_loses_nothing(worker, received):
    """Each message is sent before the last event, or counted as lost."""
    sent, go = [], threading.Event()

    def send(number):
        go.wait()
        for key in (f"{number}-{i}" for i in range(200)):
            place = Place(worker, worker.address, key, (received.mark,), 0.0)
            if place.send(b""):
                sent.append(key)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    go.set()
    received.leave()
    for thread in threads:
        thread.join()
    check_end(received)
    assert {each.key for each in received.reported if each.key} == set(sent)


def test_worker_whose_end_fails_sends_nothing_and_goes_on(
    client, received, monkeypatch
):
    """The scheduler waits for its last event, and reports that there was none."""

    def fail(mark, worker):
        raise MemoryError

    monkeypatch.setattr(task.outbox, "take", fail)
    received.leave()
    monkeypatch.undo()
    assert not any(each.words[:1] == [LAST] for each in received.all())
    assert not task.runs
    assert one(client, make_task()) == 2 * CALLS


def test_leave_reports_whether_a_last_word_comes(client, worker, received):
    options = {"mark": received.mark, "prefixes": [], "late": False, "kept_bytes": 0}
    left = {"left": {"status": "OK"}}
    assert client.run(leave, options) == {worker.address: left}
    assert client.run(leave, options) == {worker.address: {}}
    check_end(received)
