# SPDX-License-Identifier: BSD-3-Clause
"""How the scheduler part leaves: everything has arrived, and nothing is left of it.

The scheduler of these clusters is in this process, so that its state can be looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import cloudpickle
import pytest
from distributed import Client, WorkerPlugin, get_worker

from clusters import Surrounded
from scheduler_runs import (
    TOKEN,
    Read,
    Run,
    cluster_of,
    ours,
    soon_gone,
    until,
    workers_of,
)

FEW = {"page_bytes": 200, "answer_bytes": 300}  # of which an answer holds a part


def worker_part(mark: str, last: list[str], after_s: float) -> bytes:
    """A worker plugin by value that reports this at its end."""

    class Plugin(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            worker.log_event(mark, [worker.address, "", b"", "measured"])

        async def teardown(self, worker: Any) -> None:
            if last:  # long after the answer to the removal
                loop = asyncio.get_running_loop()
                loop.call_later(after_s, self.report_last, worker)

        def report_last(self, worker: Any) -> None:
            worker.log_event(mark, [worker.address, "key", b"frame"])
            worker.log_event(mark, [worker.address, "", b"", *last])

    return cloudpickle.dumps(Plugin())


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    """Two workers that no test harms."""
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def surrounded(shared: Client) -> Iterator[Surrounded]:
    """Compared before and after, on the scheduler and on workers."""
    before = Surrounded(shared)
    yield before
    before.check()


def equipped(client: Client, last: list[str], after_s: float = 0.5, **more: Any) -> Run:
    """A run with a worker part that says this last."""
    run = Run(client)
    run.send(worker_plugin=worker_part(run.mark, last, after_s), **more)
    run.start()
    workers, there = plugin_of(client, run).workers, client.cluster.scheduler.workers
    until(lambda: len(workers._measuring) == len(there))  # they have said so
    return run


def plugin_of(client: Client, run: Run) -> Any:
    return client.cluster.scheduler.plugins[run.mark]


def say(mark: str, data: bytes) -> None:
    worker = get_worker()
    worker.log_event(mark, [worker.address, worker.get_current_task(), data])


async def put_plugin(dask_worker: Any, part: bytes, mark: str) -> None:
    """What a worker does that got the plugin while it joined."""
    await dask_worker.plugin_add(part, name=mark)


def count_heartbeats(dask_worker: Any) -> None:
    """Requested heartbeats; Dask's own use the original function."""
    heartbeat = dask_worker.heartbeat
    dask_worker.forced = 0

    async def counted() -> None:
        dask_worker.forced += 1
        await heartbeat()

    dask_worker.heartbeat = counted


def counted_heartbeats(dask_worker: Any) -> int:
    del dask_worker.heartbeat
    return dask_worker.__dict__.pop("forced")


# ---- everything has arrived --------------------------------------------------------


def test_what_is_on_its_way_is_waited_for(
    shared: Client, surrounded: Surrounded
) -> None:
    run = equipped(shared, ["last", "3"], limits={"stop_s": 30.0})
    answer = run.stop()
    assert [data for _, _, data in run.read.frames] == [b"frame", b"frame"]
    assert run.read.dropped == (0, 0, 6)  # which they could not send
    assert answer["left_out"] == {}


def test_missing_parts_are_reported(shared: Client, surrounded: Surrounded) -> None:
    run = equipped(shared, [], limits={"stop_s": 0.2})
    (who,) = run.stop()["left_out"].items()
    assert who[0] == "last frames"
    assert who[1].startswith("2 worker(s), the first: tcp://")


def test_events_are_kept_on_pages_only(shared: Client, surrounded: Surrounded) -> None:
    """Dask would keep the last thousand, of megabytes each."""
    run = Run(shared).start()
    with ours(run):
        frame = b"f" * 100_000
        shared.gather(shared.map(say, [run.mark] * 20, [frame] * 20, pure=False))
    topics = shared.cluster.scheduler._broker._topics
    assert topics[run.mark].count == 20
    assert not topics[run.mark].events
    run.stop()
    assert len(run.read.frames) == 20


# ---- nothing is left ---------------------------------------------------------------


def test_a_worker_that_was_joining_is_left_too(
    shared: Client, surrounded: Surrounded
) -> None:
    """It was sent the worker part before the end, and has it after the end."""
    run = equipped(shared, [], limits={"stop_s": 0.2})
    part = shared.cluster.scheduler.worker_plugins[run.mark]
    late, _ = workers_of(shared)
    run.stop()
    shared.run(put_plugin, part=part, mark=run.mark, workers=[late])
    soon_gone(shared, run.mark)


def test_each_worker_sends_one_last_heartbeat(shared: Client) -> None:
    run = Run(shared, limits={"again_s": 0.1}).start()
    plugin = plugin_of(shared, run)
    shared.run(count_heartbeats)
    run.stop()
    until(lambda: plugin.is_tidy)
    assert set(shared.run(counted_heartbeats).values()) == {1}


def test_workers_are_left_before_the_last_sweep(
    shared: Client, surrounded: Surrounded
) -> None:
    """What they say while they are left makes the topic of events again."""
    with Client(shared.cluster, set_as_default=False) as client:
        run = equipped(client, ["last", "0"])
        with ours(run):
            client.submit(say, run.mark, b"x", pure=False).result()
    soon_gone(shared, run.mark)


def test_what_has_gone_leaves_its_successor_alone(shared: Client) -> None:
    """A client that slept sends the plugin again, under the same name."""
    run = equipped(shared, ["last", "0"], limits={"again_s": 2.0})
    plugin = plugin_of(shared, run)
    old = run.pull()["plugin"]
    shared.sync(go, plugin)
    run.start()
    until(lambda: plugin.is_tidy)
    pull = getattr(shared.scheduler, run.mark + "_pull")
    assert shared.sync(pull, after=0, token=TOKEN)["plugin"] != old
    plugins = shared.run(lambda dask_worker: list(dask_worker.plugins))
    assert all(run.mark in there for there in plugins.values())
    run.after, run.read = 0, Read()
    run.stop()
    soon_gone(shared, run.mark)


async def go(plugin: Any) -> None:
    """As after a minute without a pull."""
    await plugin._remove_itself()


def test_the_rest_is_there_however_long_the_stop_took(shared: Client) -> None:
    limits = {**FEW, "again_s": 2.0, "stop_s": 30.0}
    run = equipped(shared, ["last", "0"], after_s=2.5, limits=limits)
    shared.gather(shared.map(abs, range(40), pure=False))
    assert run.ask("stop", after=0)["more"]
    run.pull()
    assert len(run.read.of("abs")) == 40
    soon_gone(shared, run.mark)


def test_remaining_pages_are_dropped_without_a_pull(shared: Client) -> None:
    run = Run(shared, limits={**FEW, "again_s": 1.0}).start()
    shared.gather(shared.map(abs, range(100), pure=False))
    assert run.ask("stop", after=0)["more"]
    soon_gone(shared, run.mark)


def test_late_events_go_though_a_worker_hangs(shared: Client) -> None:
    run = Run(shared, limits={"again_s": 0.05}).start()
    plugin = plugin_of(shared, run)
    answer = shared.sync(never_answered, plugin)
    run.stop()
    for _ in range(3):  # what is done once only sweeps twice
        shared.log_event(run.mark, ["tcp://late", "key", b"late"])
        soon_gone(shared, run.mark)
    assert not plugin.is_tidy
    shared.loop.asyncio_loop.call_soon_threadsafe(answer.set_result, {})
    until(lambda: plugin.is_tidy)


async def never_answered(plugin: Any) -> Any:
    """A question to a worker that is stopped."""
    answer = asyncio.get_running_loop().create_future()
    plugin.workers._requests.add(answer)
    answer.add_done_callback(plugin.workers._drop_request)
    return answer


def test_a_run_is_put_there_once(shared: Client, surrounded: Surrounded) -> None:
    run = Run(shared).start()
    plugin = plugin_of(shared, run)
    with pytest.raises(RuntimeError, match="is registered already"):
        run.start()
    assert plugin_of(shared, run) is plugin
    run.stop()
