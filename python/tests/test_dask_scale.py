# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler part: thousands of workers, a whole day, and where much is missing."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc
import weakref
from collections import Counter
from typing import Any

import pytest

from roastcoffea.dask import scheduler_pages
from scheduler_runs import Read
from simulated_scheduler import Clock, Scheduler, Task, held_bytes, made, pull, tick

FAR_S = 86400.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.install(monkeypatch)
    return clock


# ---- many workers ------------------------------------------------------------------


def test_all_of_many_workers_are_sampled(clock: Clock) -> None:
    scheduler, plugin = made(5000, clock)
    chosen, read, after, beats, most = random.Random(5), Read(), 0, 0, 0
    went: list[str] = []
    came = list(scheduler.workers)
    begin = clock.now
    for _ in range(600):
        clock.now += 1
        for state in chosen.sample(list(scheduler.workers.values()), 190):
            beats += state.last_seen != clock.now
            scheduler.beat(state, clock.now)
        for address in chosen.sample(list(scheduler.workers), 15):
            went.append(address)
            scheduler.leave(address)
        came += [scheduler.join(clock.now) for _ in range(15)]
        tick(plugin)
        most = max(most, held_bytes(plugin))
        after = pull(plugin, read, after)
    assert [row[0] for row in read.joined] == came
    assert [row[0] for row in read.left] == went
    assert all(begin <= row[1] <= clock.now for row in read.joined + read.left)
    assert {row[0] for row in read.joined} - {row[0] for row in read.left} == set(
        scheduler.workers
    )
    counts = {tick[0]: tick[1:3] for tick in read.ticks}  # after those that went
    assert list(counts) == [begin + n for n in range(1, 601)]
    assert set(counts.values()) == {(5000, 20000)}
    assert beats * 0.9 < len(read.samples) <= beats + 5000 + 600 * 15
    assert read.dropped == (0, 0, 0)
    assert most < 4 << 20
    assert plugin.errors.count == 0, plugin.errors.first


def test_only_what_moved_is_sampled(clock: Clock) -> None:
    scheduler, plugin = made(10, clock)
    read = Read()
    tick(plugin)
    after = pull(plugin, read, 0)
    assert len(read.samples) == len(read.delays) == 10
    first, second, *_ = scheduler.workers.values()
    clock.now += 1
    scheduler.beat(first, clock.now)
    scheduler.tasks["t"] = task = Task("t")
    task.processing_on = second
    second.processing.add(task)
    scheduler.move("t", "waiting", "processing")
    tick(plugin)
    after = pull(plugin, read, after)
    tick(plugin)  # nothing moved
    pull(plugin, read, after)
    (_, busy, tasks), (when, who, values) = read.samples[10:]
    assert (busy, tasks) == (second.address, {"active_tasks": 1.0})
    assert (when, who) == (clock.now, first.address)
    assert len(values) == len(scheduler_pages.READERS) - 1
    assert values["memory_limit"] == 8e9
    assert values["last_seen"] == clock.now
    assert len(read.delays) == 10
    for _ in range(16):
        clock.now += 1
        scheduler.beat(first, clock.now)
        tick(plugin)
    pull(plugin, read, after)
    assert len(read.delays) == 11


def test_workers_with_missing_or_extra_metrics(clock: Clock) -> None:
    scheduler, plugin = made(3, clock)
    less, more, odd = scheduler.workers.values()
    less.memory_limit = 0
    del less.metrics["host_disk_io"]
    more.metrics["gil_contention"] = 0.5
    odd.metrics = {"memory": "much", "cpu": None}
    tick(plugin)
    read = Read()
    pull(plugin, read, 0)
    values = {who: said for _, who, said in read.samples}
    assert "disk_read" not in values[less.address]
    assert values[less.address]["memory_limit"] != 0  # NaN: none
    assert values[more.address]["gil"] == 0.5
    assert values[more.address]["disk_read"] == 4096.0
    assert "memory" not in values[odd.address]
    assert values[odd.address]["cores"] == 4
    assert plugin.errors.count == 0


def test_a_tick_leaves_room_to_breathe(clock: Clock) -> None:
    scheduler, plugin = made(2600, clock)
    ticking = plugin.ticking()
    next(ticking)
    gone = list(scheduler.workers)[:2599]
    for address in gone:  # in the middle of it
        scheduler.leave(address)
    late = scheduler.join(clock.now)
    assert len(list(ticking)) == 4
    tick(plugin)
    read = Read()
    pull(plugin, read, 0)
    assert [who for _, who, _ in read.samples][2600:] == [late]
    assert len({who for _, who, _ in read.samples}) == 2601
    assert read.ticks[-1][1] == 2


# ---- a long time -------------------------------------------------------------------


def test_a_day_leaves_no_more_than_an_hour(clock: Clock) -> None:
    scheduler, plugin = made(1000, clock, limits={"lifetime_s": 2 * FAR_S})
    after, sizes = 0, []
    tracemalloc.start()
    try:
        for step in range(144):  # of ten minutes
            clock.now += 600
            for state in scheduler.workers.values():
                scheduler.beat(state, clock.now)
            _work(scheduler, plugin, step)
            tick(plugin)
            after = _forget(plugin, after)
            plugin.note_request(plugin.token)
            assert not plugin.is_abandoned()
            if step % 6 == 5:
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert plugin.errors.count == 0, plugin.errors.first
    assert plugin.tasks.running == {}
    assert max(sizes[1:]) < sizes[0] + (256 << 10)


def _work(scheduler: Scheduler, plugin: Any, minute: int) -> None:
    """Some tasks of the run come and go."""
    worker = next(iter(scheduler.workers.values()))
    for n in range(20):
        key = f"work-{minute}-{n}"
        scheduler.tasks[key] = task = Task(key, mark=plugin.mark)
        task.processing_on = worker
        scheduler.move(key, "waiting", "processing")
        scheduler.move(key, "processing", "memory", worker=worker.address)
        scheduler.move(key, "memory", "released")
        del scheduler.tasks[key]


def _forget(plugin: Any, after: int) -> int:
    more = True
    while more:
        answer = plugin.pages.pull(after)
        more = answer["more"]
        after = max([after, *(number for number, _ in answer["pages"])])
    return after


def test_without_a_client_memory_is_bounded(clock: Clock) -> None:
    cap = 1 << 20
    scheduler, plugin = made(500, clock, limits={"cap_bytes": cap})
    produced = 0
    for minute in range(60):
        clock.now += 1
        plugin.count_silence(1.0)
        for state in scheduler.workers.values():
            scheduler.beat(state, clock.now)
        _work(scheduler, plugin, minute)
        plugin.log_event(plugin.mark, ["tcp://x", "key", b"f" * 1000])
        tick(plugin)
        produced += 500
        assert held_bytes(plugin) <= cap + 4 * plugin.pages.page_bytes
    assert plugin.pace() > 1.0
    assert not plugin.is_abandoned()
    clock.now += 1
    plugin.count_silence(1.0)
    assert plugin.is_abandoned()
    read = Read()
    pull(plugin, read, 0)
    assert read.dropped[0] > 0
    assert len(read.samples) + read.dropped[0] == produced
    assert len(read.tasks) + read.dropped[1] == 60 * 20
    assert len(read.frames) + read.dropped[2] == 60
    assert read.dropped[1:] == (0, 0)  # samples go first
    assert len(read.joined) == 500


def test_a_busy_scheduler_has_not_been_forgotten(clock: Clock) -> None:
    """It received nothing, and the clocks of its machine may have been set."""
    _, plugin = made(1, clock)
    for _ in range(5):
        clock.now += 600
        plugin.count_silence(1.0)
        assert not plugin.is_abandoned()
    plugin.note_request(plugin.token)
    for _ in range(60):
        assert not plugin.is_abandoned()
        clock.now += 1.001
        plugin.count_silence(1.0)
    assert plugin.is_abandoned()


def test_a_week_is_the_longest_run(clock: Clock) -> None:
    _, plugin = made(1, clock)
    clock.now += 8 * 86400
    plugin.note_request(plugin.token)
    assert plugin.is_abandoned()


def test_silence_is_noticed_though_ticks_are_rare(clock: Clock) -> None:
    _, plugin = made(1, clock, interval=600.0)
    assert plugin.pause_s(0.0) == 1.0
    assert plugin.pause_s(599.5) == 0.5
    _, without = made(1, clock, interval=0.0)
    assert without.pause_s(5.0) == 1.0


# ---- several things at once --------------------------------------------------------


def test_ticks_do_not_mix(clock: Clock) -> None:
    """One that comes while another breathes: samples are of the time they say."""
    _, plugin = made(1200, clock)

    async def two() -> None:
        first = asyncio.ensure_future(plugin.tick())
        await asyncio.sleep(0)
        assert plugin.pages.head, "it breathes"
        clock.now += 1
        await asyncio.gather(first, plugin.tick())

    begin = clock.now
    asyncio.run(two())
    read = Read()
    pull(plugin, read, 0)
    assert Counter(when for when, _, _ in read.samples) == {begin: 1200}
    assert {tick[0] for tick in read.ticks} <= {begin, begin + 1}
    assert plugin.errors.count == 0, plugin.errors.first


def test_a_late_answer_is_awaited(clock: Clock) -> None:
    """asyncio holds tasks weakly: one without a reference never sends anything."""
    scheduler, plugin = made(1, clock, limits={"stop_s": 0.0})
    waiting: weakref.WeakSet[Any] = weakref.WeakSet()

    async def broadcast(*, msg: Any, workers: list[str], **more: Any) -> Any:
        answer = asyncio.get_running_loop().create_future()
        waiting.add(answer)
        return await answer

    async def leave() -> None:
        scheduler.broadcast = broadcast
        await plugin.workers.leave({})
        await asyncio.sleep(0)
        gc.collect()
        (answer,) = waiting
        answer.set_exception(OSError("gone meanwhile"))
        while await plugin.workers.has_late_answers():
            pass

    asyncio.run(leave())
    late = {"last heartbeat": "1 worker(s), the first: it did not answer in time"}
    assert plugin.workers.left_out == late
