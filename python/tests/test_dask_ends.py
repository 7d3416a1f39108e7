# SPDX-License-Identifier: BSD-3-Clause
"""What was begun on a scheduler is ended there, however slow it is and whatever
interrupts the thread of the block; and it is pulled for as long as it may be there."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading

import pytest
from distributed import Client

from clusters import await_until, shared_client
from roastcoffea import MetricsCollector
from roastcoffea.backends import dask as backend_module
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.dask import install
from roastcoffea.dask import watch as watch_module
from roastcoffea.dask.install import Installation
from roastcoffea.dask.spans import new_mark
from roastcoffea.dask.watch import Watch
from scheduler_client import (
    Core,
    nothing_left,
    pull_fast,
    soon_left,
    start_apart,
    tell,
    watched,
)

DEADLINE_S = 60.0
SHORT_S = 0.2  # for what will not come

client = pytest.fixture(scope="module")(shared_client)


@pytest.fixture(scope="module")
def cluster_apart(tmp_path_factory):
    yield from start_apart(tmp_path_factory.mktemp("apart"))


fast = pytest.fixture(pull_fast)


@pytest.fixture
def apart(cluster_apart):
    return cluster_apart[0]


@pytest.fixture
def distant(cluster_apart):
    """The client of a scheduler that is apart."""
    return cluster_apart[1]


class Beginning:
    """Every watch that asks a scheduler to take its plugin."""

    def __init__(self, monkeypatch):
        self.begun = threading.Event()
        self.watches = []
        live = Watch._live

        async def tell(watch):
            self.watches.append(watch)
            self.begun.set()
            await live(watch)

        monkeypatch.setattr(Watch, "_live", tell)


@pytest.fixture
def installing(monkeypatch):
    return Beginning(monkeypatch)


def check_ended(watch, client):
    """It was there, and has ended by itself since."""
    watch._over.result(DEADLINE_S)
    assert watch._installation.is_there
    soon_left(client)


# ---- a scheduler that is slow --------------------------------------------------------


def test_a_start_that_takes_too_long_is_ended_when_it_is_done(apart, distant):
    watch = Watch(distant, Core(), new_mark(), 1.0)
    with apart.silent():
        assert not watch.start(SHORT_S)
        found = watch.stop((), SHORT_S)
    assert set(found.errors) == {"start on the scheduler", "end on the scheduler"}
    check_ended(watch, distant)


def test_a_start_that_takes_too_long_is_used_when_it_is_done(apart, distant, fast):
    core = Core()
    watch = Watch(distant, core, new_mark(), 0.05)
    with apart.silent():
        assert not watch.start(SHORT_S)
        assert not watch.start(SHORT_S)
    await_until(lambda: core.batches)
    found = watch.stop(())
    ((error, count),) = found.errors.values()
    assert isinstance(error, TimeoutError)
    assert count == 1
    check_ended(watch, distant)


def test_ctrl_c_while_it_starts_leaves_nothing(apart, distant, installing):
    def interrupt():
        installing.begun.wait(DEADLINE_S)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with apart.silent(), pytest.raises(KeyboardInterrupt):
        MetricsCollector(distant).__enter__()
    thread.join()
    check_ended(installing.watches[0], distant)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT])
def test_signal_that_is_only_noted_while_it_starts(
    number, client, installing, monkeypatch
):
    """As that a window has changed its size, which ends no waiting, or that the user
    wants to end soon, which does."""
    noted = []
    begin = Installation.begin

    async def begin_late(installation):
        signal.pthread_kill(threading.main_thread().ident, number)
        await asyncio.sleep(SHORT_S)
        return await begin(installation)

    monkeypatch.setattr(Installation, "begin", begin_late)
    before = signal.signal(number, lambda number, frame: noted.append(number))
    try:
        with MetricsCollector(client) as collector:
            is_there = installing.watches[0]._installation.is_there
    finally:
        signal.signal(number, before)
    assert noted == [number]
    is_said = watch_module.UNAWAITED in collector.run._notes.remarks
    assert is_there is (number == signal.SIGUSR1)
    assert is_said is not is_there


def test_ctrl_c_while_it_ends_leaves_nothing(apart, distant, installing, monkeypatch):
    """Before a stop was requested."""

    def interrupt(watches):
        raise KeyboardInterrupt

    monkeypatch.setattr("roastcoffea.dask.watch.Watches.end", interrupt)
    with pytest.raises(KeyboardInterrupt), MetricsCollector(distant):
        pass
    check_ended(installing.watches[0], distant)


def test_a_backend_that_does_not_start_leaves_nothing(
    apart, distant, installing, monkeypatch
):
    monkeypatch.setattr(Watch.start, "__defaults__", (SHORT_S,))
    backend = DaskMetricsBackend(distant)
    with apart.silent(), pytest.raises(TimeoutError, match="no answer within"):
        backend.start_tracking()
    check_ended(installing.watches[0], distant)
    assert backend.stop_tracking()["worker_counts"] == {}


def test_spans_of_a_silent_scheduler_are_not_waited_for(apart, distant, monkeypatch):
    monkeypatch.setattr(backend_module, "HEARTBEAT_TIMEOUT_S", SHORT_S)
    monkeypatch.setattr(backend_module, "SPANS_TIMEOUT_S", SHORT_S)
    with apart.silent(), pytest.raises(TimeoutError):
        DaskMetricsBackend(distant).get_span_metrics("some id")


def test_a_client_that_went_meanwhile_is_not_watched(client):
    """It sent the request, and disconnected before the busy scheduler handled it."""
    with Client(client.scheduler.address, set_as_default=False) as other:
        payload = install.scheduler_payload(new_mark(), other.id, 1.0)
        plugin = install.scheduler_plugin(payload)
    register = client.scheduler.register_scheduler_plugin
    with pytest.raises(RuntimeError, match="left before its run began"):
        client.sync(register, plugin=plugin, name="roastcoffea", idempotent=False)
    assert nothing_left(client)


def test_stop_is_sent_even_without_an_answer_in_time(
    apart, distant, installing, monkeypatch
):
    monkeypatch.setattr(watch_module.Watches.end, "__defaults__", (SHORT_S,))
    with contextlib.ExitStack() as stack, MetricsCollector(distant) as collector:
        stack.enter_context(apart.silent())
    assert "end on the scheduler: TimeoutError" in collector.run._notes.first_error
    check_ended(installing.watches[0], distant)


def test_a_run_that_is_over_gets_nothing(apart, distant):
    core = Core()
    watch = Watch(distant, core, new_mark(), 1.0)
    assert watch.start()
    with apart.silent():
        watch.stop((), SHORT_S)
        calls = core.calls
    check_ended(watch, distant)
    assert "profile" in watch._last_answer
    assert core.calls == calls


def test_the_rest_comes_after_the_end(client):
    """More than one answer holds, and nothing of it has been pulled before."""
    core = Core()
    with watched(client, core, 0.0) as watch:
        client.submit(tell, watch.mark, 5, 600_000).result()
    sizes = sum(map(len, core.batches))
    assert sizes > 5 * 600_000


def test_it_is_pulled_however_long_it_was_silent(apart, distant, fast, monkeypatch):
    core = Core()
    with watched(distant, core) as watch:
        monkeypatch.setattr(watch_module, "PULL_TIMEOUT_S", 0.05)
        with monkeypatch.context() as patch, apart.silent():
            await_until(lambda: watch._is_silent)
            silent = Silences(patch)
            await_until(lambda: silent.count >= 3)
        monkeypatch.setattr(watch_module, "PULL_TIMEOUT_S", 20.0)
        calls = core.calls
        await_until(lambda: core.calls > calls and not watch._is_silent)


class Silences:
    """How often pulling was tried."""

    def __init__(self, monkeypatch):
        self.count = 0
        pull = Watch._pull

        async def count(watch):
            self.count += 1
            return await pull(watch)

        monkeypatch.setattr(Watch, "_pull", count)


def test_a_pull_that_misses_its_cancelling_installs_nothing(client, fast, monkeypatch):
    """As on Python 3.11, when an answer comes with the end."""
    sent, pulling, followed = [], threading.Event(), []
    send, follow = Installation.send, Watch._follow

    async def count(installing, again):
        sent.append(again)
        await send(installing, again)

    async def miss(watch):
        pulling.set()
        try:
            await asyncio.sleep(DEADLINE_S)
        except asyncio.CancelledError:
            raise watch_module.VanishedError from None

    async def note(watch):
        await follow(watch)
        followed.append(watch)

    monkeypatch.setattr(Installation, "send", count)
    monkeypatch.setattr(Watch, "_follow", note)
    monkeypatch.setattr(watch_module, "FIRST_PULL_S", 0.0)
    watch = Watch(client, Core(), new_mark(), 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(Watch, "_pull", miss)
        assert watch.start()
        assert pulling.wait(DEADLINE_S)
        watch.stop(())
    assert sent == [False]
    assert followed == [watch]
    check_ended(watch, client)
