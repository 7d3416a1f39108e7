# SPDX-License-Identifier: BSD-3-Clause
"""The hooks of the scheduler part, called with missing, wrong or late data."""

from __future__ import annotations

import asyncio
from collections import Counter

import msgpack
import pytest

from roastcoffea import _core
from roastcoffea.dask import scheduler_pages
from roastcoffea.dask.scheduler_plugin import failure_of
from scheduler_runs import Read, ends
from simulated_scheduler import Clock, Task, made, pull, stop, tick


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.install(monkeypatch)
    return clock


def test_what_a_scheduler_lacks_is_left_out(clock: Clock) -> None:
    scheduler, plugin = made(2, clock)
    del scheduler.cumulative_worker_metrics
    answer = stop(plugin, spans=["some"])
    assert answer["spans"] == answer["differences"] == []
    assert set(answer["left_out"]) == {"spans", "differences", "topic"}
    assert "KeyError" in answer["left_out"]["spans"]
    assert answer["errors"] == 2
    assert answer["pages"]
    assert scheduler.plugins == scheduler.handlers == {}


def test_nothing_is_raised_into_the_scheduler(clock: Clock) -> None:
    scheduler, plugin = made(2, clock)
    scheduler.move("no such task", "waiting", "processing")
    scheduler.move("no such task", "processing", "memory", worker="unknown")
    plugin.add_worker(scheduler, "unknown")
    plugin.remove_worker(scheduler, "unknown")
    scheduler.workers["odd"] = object()
    plugin.add_worker(scheduler, "odd")
    for event in (None, [], ["a"], ["a", "b", 7], ["a", "b", b"", 7], {"action": []}):
        plugin.log_event(plugin.mark, event)
        plugin.log_event("all", event)
        plugin.log_event("stealing", event)
    plugin.log_event("stealing", ("confirm", "key"))
    plugin.log_event("worker-restart-memory", {"worker": None, "rss": "much"})
    plugin.log_event("scheduler", {"action": "worker-ttl-timed-out", "workers": 7})
    plugin.restart(scheduler)
    assert plugin.errors.count > 5
    assert "to processing: KeyError" in plugin.errors.first
    tick(plugin)
    read = Read()
    pull(plugin, read, 0)
    assert read.dropped[1] == 1
    assert len(read.samples) == 2


def test_frames_are_kept_though_events_cannot_be_forgotten(clock: Clock) -> None:
    class Broker:
        def truncate(self, topic: str) -> None:
            raise TypeError("another signature")

    scheduler, plugin = made(1, clock)
    scheduler._broker = Broker()
    for _ in range(3):
        plugin.log_event(plugin.mark, ["tcp://x", "key", b"frame"])
    read = Read()
    pull(plugin, read, 0)
    assert [frame for _, _, frame in read.frames] == [b"frame"] * 3
    assert read.dropped == (0, 0, 0)
    assert plugin.errors.count == 1
    assert plugin.left_out == {"topic": "TypeError: another signature"}


def test_the_profile_is_of_tasks_that_go_on_too(clock: Clock) -> None:
    scheduler, plugin = made(1, clock)
    (worker,) = scheduler.workers.values()
    scheduler.begin("k", worker, plugin.mark)
    scheduler.begin("foreign", worker)
    scheduler.tasks["foreign"].prefix.name = "theirs"
    stop(plugin)
    assert plugin.tasks.our_prefixes == {"work"}


def test_an_end_without_workers_is_none_the_worse(clock: Clock) -> None:
    scheduler, plugin = made(1, clock)
    (worker,) = scheduler.workers.values()
    scheduler.begin("k", worker, plugin.mark)
    scheduler.move("k", "processing", "memory", worker=worker.address)
    scheduler.leave(worker.address)
    answer = stop(plugin)
    assert "last heartbeat" not in answer["left_out"]
    assert answer["profile"] == {}


def test_a_task_that_ends_while_the_run_ends_is_one(clock: Clock) -> None:
    scheduler, plugin = made(1, clock)
    (worker,) = scheduler.workers.values()
    for n in range(2500):
        scheduler.begin(f"k{n}", worker, plugin.mark)
    ending = plugin.tasks.end()
    next(ending)
    reported = {"worker": worker.address}
    scheduler.move("k0", "processing", "memory", **reported)  # has its row
    scheduler.move("k2400", "processing", "memory", **reported)  # has none yet
    scheduler.begin("late", worker, plugin.mark)
    scheduler.move("late", "processing", "memory", **reported)
    assert len(list(ending)) == 1
    read = Read()
    pull(plugin, read, 0)
    assert len({task.hash for task in read.tasks}) == len(read.tasks) == 2500
    assert Counter(task.end for task in read.tasks) == {"running": 2499, "ok": 1}
    assert all(task.assigned == clock.now for task in read.tasks)


@pytest.mark.parametrize(
    ("stimulus", "wanted", "end"),
    [
        ("task-erred-1.5", True, "retried"),
        ("execute-unknown-error-1.5", True, "retried"),
        ("handle-worker-cleanup-1.5", True, "sent_back"),
        ("reschedule-1.5", True, "sent_back"),
        ("client-releases-keys-1.5", False, "cancelled"),
    ],
)
def test_why_a_task_left_its_worker(
    clock: Clock, stimulus: str, wanted: bool, end: str
) -> None:
    scheduler, plugin = made(1, clock)
    (worker,) = scheduler.workers.values()
    scheduler.begin("k", worker)
    scheduler.tasks["k"].who_wants = {"client"} if wanted else set()
    scheduler.move("k", "processing", "released", stimulus_id=stimulus)
    read = Read()
    pull(plugin, read, 0)
    assert [task.end for task in read.tasks] == [end]


def test_a_worker_that_runs_no_functions_is_left_all_the_same(clock: Clock) -> None:
    """`run` may be blocked there, and plugins are not."""
    scheduler, plugin = made(2, clock, worker_plugin=b"part")
    refusing, willing = scheduler.workers
    requested = []

    async def broadcast(*, msg, workers, **more):  # type: ignore[no-untyped-def]
        (worker,) = workers
        requested.append((msg["op"], worker))
        if (msg["op"], worker) == ("run", refusing):
            return {worker: RuntimeError("explicitly disallowed")}
        return {worker: {"status": "OK"}}

    scheduler.broadcast = broadcast
    answer = stop(plugin)
    assert sorted(requested[:2]) == [("run", refusing), ("run", willing)]
    assert requested[2:] == [("plugin-remove", refusing)]
    assert "explicitly disallowed" in answer["left_out"]["last heartbeat"]


def test_client_that_leaves_keeps_the_workers_of_another(clock: Clock) -> None:
    scheduler, plugin = made(2, clock, worker_plugin=b"part")
    requested = []

    async def broadcast(**reported):  # type: ignore[no-untyped-def]
        requested.append(reported)

    scheduler.broadcast = broadcast
    scheduler.plugins[plugin.mark] = other = object()
    asyncio.run(plugin._remove_itself())
    assert requested == []
    assert scheduler.plugins == {plugin.mark: other}


def test_why_a_worker_went(clock: Clock) -> None:
    scheduler, plugin = made(8, clock)
    a, b, c, d, e, f, g, h = scheduler.workers
    reported = {
        "action": "remove-worker",
        "expected": True,
        "stimulus_id": "retire-workers-1.25",
    }
    plugin.log_event("all", {**reported, "worker": a})
    scheduler.leave(a)
    plugin.log_event(b, {"action": "closing-worker", "reason": "signal-15"})
    plugin.log_event("worker-restart-memory", {"worker": b, "pid": 1, "rss": 2.5e9})
    scheduler.leave(b)
    timed = {"action": "worker-ttl-timed-out", "workers": [c], "ttl": 300}
    plugin.log_event("scheduler", timed)
    scheduler.leave(c, "check-worker-ttl-1.5")
    scheduler.leave(d)
    scheduler.leave(e, "client-restart-workers-1.5")  # without a nanny
    closing = {"action": "closing-worker", "reason": "client-restart-workers-1.5"}
    plugin.log_event(f, closing)  # with one
    scheduler.leave(f)
    scheduler.leave(g, "something new")
    plugin.log_event(g, {"action": "closing-worker", "reason": "too late"})
    plugin.restart(scheduler)
    scheduler.leave(h)  # before it could say why
    read = Read()
    pull(plugin, read, 0)
    assert [(who, reported, why) for who, _, reported, why in read.left] == [
        (a, True, "retired"),
        (b, False, "its nanny ended it for its memory: 2500 MB resident"),
        (c, False, "no heartbeat for 300 s (ttl)"),
        (d, False, "the connection to it was lost"),
        (e, True, "client-restart-workers"),
        (f, True, "it closed: client-restart-workers"),
        (g, False, "something new"),
        (h, True, "the connection to it was lost"),
    ]


def test_every_reason_of_the_list_is_written() -> None:
    used = set(scheduler_pages.REASONS.values()) | {"memory", "silent", "closed"}
    assert used == set(_core.batch_rules()["reasons"])
    numbers = {number: name for name, number in _core.batch_rules()["ends"].items()}
    assert numbers == ends()


def test_words_that_are_no_utf8_are_sent_all_the_same(clock: Clock) -> None:
    class Spans:
        @property
        def spans(self) -> None:
            raise OSError("no \udcff.py")

    scheduler, plugin = made(1, clock)
    scheduler.extensions["spans"] = Spans()
    plugin.workers.unmeasured["tcp://x"] = failure_of(ValueError("\ud800"))
    plugin.add_worker(None, "a")  # type: ignore[arg-type]
    plugin.errors.first = ""
    plugin.errors.add("here", OSError("\udcff"))
    scheduler.cumulative_worker_metrics["\ud800", "seconds"] += 1
    answer = stop(plugin, spans=["some"])
    assert answer["error"] == "here: OSError: ?"
    assert answer["left_out"]["spans"] == "OSError: no ?.py"
    assert answer["differences"] == [[["?", "seconds"], 1.0]]
    assert msgpack.packb(answer)


def test_what_a_worker_said_last_is_sampled(clock: Clock) -> None:
    """Its memory, before it was killed: the next tick would be too late."""
    scheduler, plugin = made(3, clock)
    a, b, c = scheduler.workers
    tick(plugin)
    clock.now += 1
    scheduler.beat(scheduler.workers[a], clock.now)
    scheduler.leave(a)
    scheduler.leave(b)  # has said nothing since
    scheduler.beat(scheduler.workers[c], clock.now)
    plugin.samples.pages.head = b"a tick goes on"
    scheduler.leave(c)
    plugin.samples.pages.head = b""
    read = Read()
    pull(plugin, read, 0)
    assert [(when, who) for when, who, _ in read.samples[3:]] == [(clock.now, a)]
    assert read.ticks[-1][1] == 2
    assert plugin.errors.count == 0, plugin.errors.first


@pytest.mark.parametrize(
    ("reported", "meant"),
    [((1, 3), (0.5, 2.5)), ((-1, 1), (0, 2)), ((-1, 2), (-0.5, 2.5)), ((1, 2), (1, 2))],
    ids=["late", "early", "long", "right"],
)
def test_tasks_run_between_what_was_seen_of_them(
    clock: Clock, reported: tuple[float, float], meant: tuple[float, float]
) -> None:
    scheduler, plugin = made(1, clock)
    (worker,) = scheduler.workers.values()
    scheduler.tasks["k"] = task = Task("k")
    task.processing_on = worker
    scheduler.move("k", "waiting", "processing")
    begin, (start, end) = clock.now, reported
    parts = [
        {"action": "transfer", "start": 0.0, "stop": 1.0},
        {"action": "compute", "start": begin + start, "stop": begin + end},
    ]
    clock.now += 2.5
    scheduler.move("k", "processing", "memory", worker=worker.address, startstops=parts)
    read = Read()
    pull(plugin, read, 0)
    (found,) = read.tasks
    assert (found.start - begin, found.stop - begin) == meant


def test_more_prefixes_than_numbers(clock: Clock) -> None:
    _, plugin = made(1, clock)
    for n in range(65600):
        plugin.tasks.prefixes.get(f"p{n}") or plugin.tasks._prefix(f"p{n}")
    read = Read()
    pull(plugin, read, 0)
    assert len(read.prefixes) == 65536
    assert read.prefixes[65535] == "(other)"
