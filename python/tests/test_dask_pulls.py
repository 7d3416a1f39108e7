# SPDX-License-Identifier: BSD-3-Clause
"""Pages of a scheduler: what cannot be read, and plugins that were made anew."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

import simulated_scheduler
from clusters import await_until, shared_client
from roastcoffea import _core
from roastcoffea.dask import batches as batches_module
from roastcoffea.dask import scheduler_pages
from roastcoffea.dask import watch as watch_module
from roastcoffea.dask.batches import Batches, Clock
from roastcoffea.dask.install import AGAIN, Installation
from roastcoffea.dask.scheduler_pages import FACTS, FRAMES
from roastcoffea.dask.scheduler_plugin import DEFAULT_LIMITS
from roastcoffea.dask.spans import new_mark
from roastcoffea.dask.watch import Watch, grouped
from roastcoffea.run_notes import RunNotes
from scheduler_client import Core, forget, pull_fast, tell, watched
from scheduler_runs import Read, payload

client = pytest.fixture(scope="module")(shared_client)
fast = pytest.fixture(pull_fast)


# ---- pages that cannot be read -------------------------------------------------------


def test_errors_do_not_end_it(client, fast):
    def fail(batch):
        raise ValueError("no batch")

    core = Core(fail)
    watch = Watch(client, core, new_mark(), 0.0)
    assert watch.start()
    for pages in (30, 60):
        client.submit(tell, watch.mark, 30, 70_000, pure=False).result()
        await_until(lambda pages=pages: core.calls >= pages)
    found = watch.stop(())
    (count,) = (count for _, count in found.errors.values())
    assert count == core.calls


def test_a_page_is_read_again_when_there_was_no_memory():
    short = {b"two": 3}

    def fail(batch):
        if short.get(batch):
            short[batch] -= 1
            raise MemoryError

    core = Core(fail)
    batches = Batches(core, "scheduler")
    pages = [[1, b"one"], [2, b"two"], [3, b"three"]]
    with pytest.raises(MemoryError):
        batches.take(pages)
    assert batches.after == 1
    assert batches.take(pages) == []
    assert batches.after == 3
    assert core.batches == [b"one", b"two", b"three"]


def test_a_page_that_cannot_be_read_is_passed_over():
    def fail(batch):
        if batch == b"bad":
            raise ValueError("bad")

    core = Core(fail)
    batches = Batches(core, "scheduler")
    (error,) = batches.take([[1, b"bad"], [2, b"good"]])
    assert isinstance(error, ValueError)
    assert batches.after == 2
    assert core.batches == [b"good"]


def test_nothing_is_read_of_a_run_that_was_left():
    def leave(batch):
        threads[0].start()
        await_until(lambda: batches.is_left)
        assert threads[0].is_alive()  # it waits for this page

    core = Core(leave)
    batches = Batches(core, "scheduler")
    threads = [threading.Thread(target=batches.leave)]
    assert batches.take([[1, b"one"], [2, b"two"]]) == []
    threads[0].join()
    assert core.batches == [b"one"]
    assert batches.after == 1


class Unprintable:
    def __str__(self):
        raise ValueError("no words")


def test_an_item_that_cannot_be_packed_leaves_no_part_of_it():
    sent = payload("mark")
    pages = scheduler_pages.Pages(sent["items"], sent["rules"], DEFAULT_LIMITS)
    pages.put(FACTS, "worker", 0, texts=("tcp://h:1",))
    with pytest.raises(TypeError):
        pages.put(FRAMES, "frames", 0, 2, 3, tail="abc")
    with pytest.raises(ValueError, match="no words"):
        pages.put(FACTS, "worker", 1, texts=(Unprintable(),))
    pages.put(FRAMES, "frames", 0, 2, 3, tail=b"abc")
    read = Read()
    for _, page in pages.pull(0)["pages"]:
        read.add(bytes(page))
    assert read.frames == [("tcp://h:1", 2, b"abc")]


def test_an_event_that_cannot_be_packed_is_counted_alone(monkeypatch):
    clock = simulated_scheduler.Clock()
    clock.install(monkeypatch)
    _, plugin = simulated_scheduler.made(1, clock)
    for frames in (b"one", "no bytes", b"two"):
        plugin.log_event(plugin.mark, ["tcp://x", "key", frames])
    read = Read()
    simulated_scheduler.pull(plugin, read, 0)
    assert [frame for _, _, frame in read.frames] == [b"one", b"two"]
    assert read.dropped == (0, 0, 1)
    assert plugin.errors.count == 1, plugin.errors.first


# ---- the scheduler's clock -----------------------------------------------------------


class Ahead:
    """This machine's clock, in place of the module ``time``."""

    monotonic = staticmethod(time.monotonic)

    @staticmethod
    def time():
        return time.time() + 1000.0


def test_a_short_block_knows_the_clock(client, monkeypatch):
    monkeypatch.setattr(batches_module, "boot_id", lambda: "another machine")
    monkeypatch.setattr(watch_module, "time", Ahead)
    monkeypatch.setattr(watch_module, "FIRST_PULL_S", 60.0)
    core = Core()
    with watched(client, core):
        pass
    assert core.offsets_ns
    assert all(abs(offset - 1000e9) < 60e9 for offset in core.offsets_ns)


def test_pages_wait_for_an_answer_that_came_soon():
    soon, slow = Clock(), Clock()
    soon.learn(0.0, 0.05, {"now": 7.0})
    assert soon.is_settled
    for took_s in (5.0, 3.0):
        slow.learn(0.0, took_s, {"now": 7.0})
        assert not slow.is_settled
    slow.learn(0.0, 4.0, {"now": 7.0})
    assert slow.is_settled  # with the best of them
    assert slow.offset_ns == -5_500_000_000


# ---- a plugin that was made anew -----------------------------------------------------


def test_another_plugin_has_another_reader_and_its_own_pages():
    core = Core()
    batches = Batches(core, "scheduler")
    for plugin, pages in (
        ("a", [[1, b"1"], [2, b"2"]]),
        ("a", [[2, b"2"], [3, b"3"]]),
        ("b", [[1, b"first"], [3, b"third"]]),
    ):
        batches.recognise(plugin)
        batches.take(pages)
    assert core.batches == [b"1", b"2", b"3", b"first", b"third"]
    assert core.readers == [*["scheduler a"] * 3, *["scheduler b"] * 2]


def test_an_installing_that_takes_too_long_is_used_all_the_same(
    client, fast, monkeypatch
):
    core = Core()
    with watched(client, core) as watch:
        await_until(lambda: watch.batches.after > 5)
        monkeypatch.setattr(watch_module, "START_TIMEOUT_S", 0.0)
        client.run_on_scheduler(forget, watch.mark)
        await_until(lambda: len(set(core.readers)) == 2)
    assert watch.installed_again == 1
    assert not watch.errors


def test_reasons_that_differ_in_numbers_are_one():
    reasons = [f"worker tcp://10.0.0.{n}:{4000 + n} has no room" for n in range(300)]
    assert grouped([*reasons, "other"]) == [(300, reasons[0]), (1, "other")]


def test_remarks_are_bounded():
    notes = RunNotes(_core.Run(0, 0))
    for number in (*range(1000), *range(15)):
        notes.add_remark(f"remark {number}")
    assert notes.remarks[:19] == [f"remark {number}" for number in range(19)]
    assert notes.remarks[19:] == ["and 981 more remarks"]


def test_installation_that_always_fails_is_reported_once():
    async def refuse(**reported):
        raise RuntimeError("no pickles here")

    noted = []
    scheduler = SimpleNamespace(register_scheduler_plugin=refuse)
    client = SimpleNamespace(scheduler=scheduler)
    installing = Installation(client, "mark", lambda *reported: noted.append(reported))

    async def try_often():
        for _ in range(3):
            await installing.begin_again(60.0)

    asyncio.run(try_often())
    ((where, error),) = noted
    assert where == AGAIN
    assert str(error) == "no pickles here"
