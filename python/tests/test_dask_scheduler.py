# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler part on a real scheduler: its answers."""

from __future__ import annotations

import os
import re
import signal
import time
from functools import partial
from typing import Any
from zlib import crc32

import cloudpickle
import pytest
from distributed import Client, WorkerPlugin, get_worker, wait

from roastcoffea import MetricsCollector
from roastcoffea.dask.profile import hot_lines
from scheduler_runs import (
    DEADLINE_S,
    TOKEN,
    Run,
    ours,
    traces_of,
    two_workers,
    until,
    workers_of,
)


def worker_part(mark: str) -> bytes:
    """A worker plugin by value."""

    class Plugin(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            worker.log_event(mark, [worker.address, "", b"", "measured"])

        async def teardown(self, worker: Any) -> None:
            await worker.heartbeat()
            worker.log_event(mark, [worker.address, "", b"", "last", "0"])

    return cloudpickle.dumps(Plugin())


def broken_part() -> bytes:
    class Broken(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            raise OSError("no room")

    return cloudpickle.dumps(Broken())


shared = pytest.fixture(scope="module")(two_workers)  # that no test harms
own = pytest.fixture(two_workers)  # to be killed


def double(x: int) -> int:
    return 2 * x


def say(mark: str, data: bytes) -> str:
    worker = get_worker()
    key = worker.get_current_task()
    worker.log_event(mark, [worker.address, key, data])
    return worker.address


def spin(seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        sum(range(1000))


def test_frames_come_with_their_task(shared: Client) -> None:
    run = Run(shared).start()
    with ours(run):
        futures = shared.map(say, [run.mark] * 3, [b"a", b"bb", b""], pure=False)
        where = shared.gather(futures)
    run.stop()
    hashes = [crc32(future.key.encode()) for future in futures]
    sent = zip(where, hashes, (b"a", b"bb", b""), strict=True)
    assert sorted(run.read.frames) == sorted(row for row in sent if row[2])
    assert {task.hash for task in run.read.of("say")} == set(hashes)


def test_samples_are_what_workers_said(shared: Client) -> None:
    run = Run(shared, interval=1000.0).start()
    run.stop()
    assert {worker for _, worker, _ in run.read.samples} == set(workers_of(shared))
    ((when, workers, threads, tasks),) = run.read.ticks
    assert (workers, threads, tasks) == (2, 2, 0)
    for sampled, _, values in run.read.samples:
        assert sampled == when
        assert values["memory"] > 1e6
        assert values["cores"] == 1
        assert abs(values["last_seen"] - when) < DEADLINE_S
        assert len(values) >= 16
    assert len(run.read.delays) == 2


def test_it_ticks_by_itself(shared: Client) -> None:
    run = Run(shared, interval=0.01).start()
    until(lambda: run.pull() and len({tick[0] for tick in run.read.ticks}) > 3)
    run.stop()
    times = [tick[0] for tick in run.read.ticks]
    assert times == sorted(times)


def test_spans_are_complete(shared: Client) -> None:
    run = Run(shared).start()
    with ours(run) as span_id:
        wait(shared.map(spin, [0.1] * 4, pure=False))
    answer = run.stop(spans=[span_id, "another"])
    reported = {tuple(names): value for names, value in answer["spans"]}
    cpu = reported["execute", "spin", "thread-cpu", "seconds"]
    rest = reported["execute", "spin", "thread-noncpu", "seconds"]
    assert cpu + rest >= 0.4
    assert all(names[0] not in ("execute", "p2p") for names, _ in answer["differences"])


def test_the_profile_is_of_our_tasks(shared: Client) -> None:
    run = Run(shared).start()
    shared.submit(time.sleep, 0.1).result()  # foreign
    with ours(run):
        wait(shared.map(spin, [1.5] * 2, pure=False))
    rows = hot_lines(run.stop()["profile"], interval_s=1.0)
    samples = {row.function: row.seconds for row in rows}
    assert 0 < samples["spin"] <= 400  # of 100 a second, where there is a core
    assert samples["spin"] == max(samples.values())
    assert "def spin(" in next(row.text for row in rows if row.function == "spin")


def test_its_worker_part_follows_workers(own: Client) -> None:
    client, cluster = own, own.cluster
    run = Run(client)
    run.send(worker_plugin=worker_part(run.mark))
    other = Run(client)
    other.send(worker_plugin=broken_part())
    run.start()
    other.start()
    cluster.scale(3)
    client.wait_for_workers(3)
    plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    assert all(run.mark in there for there in plugins.values())
    assert run.stop()["unmeasured"] == {}
    unmeasured = other.stop()["unmeasured"]
    assert len(unmeasured) == 2  # those that were there answered
    assert all("no room" in why for why in unmeasured.values())
    assert traces_of(client, run.mark) == traces_of(client, other.mark) == []


def test_two_runs_do_not_disturb_each_other(shared: Client) -> None:
    one, two = Run(shared).start(), Run(shared).start()
    with ours(one):
        shared.submit(double, 1, pure=False).result()
    one.stop()
    with ours(two):
        shared.submit(double, 1, pure=False).result()
    two.stop()
    assert [task.ours for task in one.read.of("double")] == [True]
    assert [task.ours for task in two.read.of("double")] == [False, True]


def test_a_profile_of_odd_names_is_sent(shared: Client) -> None:
    run = Run(shared).start()
    with ours(run):
        wait(shared.submit(spin_in_an_odd_file, pure=False))
    rows = hot_lines(run.stop()["profile"], interval_s=1.0)
    assert any("?.py" in row.file for row in rows)


def spin_in_an_odd_file() -> None:
    """A name that is no UTF-8, as some disks have it; Python reads it so."""
    source = "def work(spin):\n    return call(spin)\ndef call(spin):\n    spin(1.0)"
    names: dict[str, Any] = {}
    exec(compile(source, "/home/\udcff.py", "exec"), names)
    names["work"](spin)


def test_workers_that_are_restarted_are_not_lost(own: Client) -> None:
    """Their nannies end them, and the scheduler sees only that they are gone."""
    run = Run(own).start()
    with MetricsCollector(own) as collector:
        own.restart()
        own.restart_workers([next(iter(workers_of(own)))])
    run.stop()
    assert collector.get_metrics()["num_lost_workers"] == 0
    assert len(run.read.left) == 3
    assert all(reported for _, _, reported, _ in run.read.left), run.read.left


# ---- tasks that raised nothing -----------------------------------------------------


class Stuck:
    """Never comes to another worker."""

    def __reduce__(self) -> Any:
        time.sleep(3600)


def test_a_task_whose_input_was_lost_has_not_raised(own: Client) -> None:
    pids = own.run(os.getpid)
    first, second = pids
    run = Run(own).start()
    some = own.submit(Stuck, workers=[first], allow_other_workers=True, pure=False)
    wait(some)
    name = own.submit(type_name, some, workers=[second], pure=False)
    running = own.cluster.scheduler.plugins[run.mark].tasks.running
    until(lambda: name.key in running)
    os.kill(pids[first], signal.SIGKILL)
    assert name.result(timeout=DEADLINE_S) == "Stuck"
    run.stop()
    assert [task.end for task in run.read.of("type_name")] == ["sent_back", "ok"]


def type_name(some: object) -> str:
    return type(some).__name__


# ---- requests -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pull", "stop"])
def test_another_client_cannot_take_a_run(shared: Client, name: str) -> None:
    """A mark is no secret: tasks are annotated with it."""
    run = Run(shared).start()
    with pytest.raises(PermissionError, match="the run of another client"):
        run.ask(name, after=1 << 40, token="a guess")
    with ours(run):
        shared.submit(say, run.mark, b"a", pure=False).result()
    run.stop()
    assert len(run.read.frames) == 1


def test_answers_say_whose_they_are(shared: Client) -> None:
    """Numbers of pages and workers mean something to one plugin only."""
    run, other = Run(shared).start(), Run(shared).start()
    first = run.pull()["plugin"]
    assert re.fullmatch("[0-9a-f]{8}", first)
    assert run.stop()["plugin"] == first
    assert other.stop()["plugin"] != first


def test_a_busy_scheduler_keeps_the_run(shared: Client) -> None:
    run = Run(shared, limits={"silence_s": 5.0}).start()
    plugin = shared.cluster.scheduler.plugins[run.mark]
    shared.run_on_scheduler(time.sleep, 6.0)
    run.pull()  # behind the turn of the loop that was so late
    assert not plugin.stopping
    run.stop()


def test_pages_come_again_until_they_are_acknowledged(shared: Client) -> None:
    run = Run(shared, limits={"page_bytes": 200, "answer_bytes": 500}).start()
    shared.gather(shared.map(double, range(40), pure=False))
    pull = partial(getattr(shared.scheduler, f"{run.mark}_pull"), token=TOKEN)
    first = shared.sync(pull, after=0)
    assert shared.sync(pull, after=0)["pages"] == first["pages"]
    assert first["more"]
    assert sum(len(page) for _, page in first["pages"]) <= 500
    numbers = [number for number, _ in first["pages"]]
    assert numbers == list(range(1, len(numbers) + 1))
    rest = shared.sync(pull, after=numbers[0])["pages"]
    assert [number for number, _ in rest][: len(numbers) - 1] == numbers[1:]
    run.read.add(bytes(first["pages"][0][1]))
    run.after = numbers[0]
    run.stop()
    assert len(run.read.of("double")) == 40
    assert run.read.dropped == (0, 0, 0)


def test_after_a_stop_the_rest_can_be_pulled(shared: Client) -> None:
    few = {"page_bytes": 200, "answer_bytes": 300, "again_s": DEADLINE_S}
    run = Run(shared, limits=few).start()
    shared.gather(shared.map(double, range(40), pure=False))
    assert run.ask("stop", after=0)["more"]
    assert traces_of(shared, run.mark) == ["handlers"]
    run.pull()
    assert len(run.read.of("double")) == 40
    assert traces_of(shared, run.mark) == []


def test_past_the_cap_losses_are_counted(shared: Client) -> None:
    few = {"page_bytes": 400, "cap_bytes": 4000}
    run = Run(shared, interval=0.01, limits=few).start()
    with ours(run):
        shared.gather(shared.map(say, [run.mark] * 60, [b"x" * 50] * 60, pure=False))
        shared.gather(shared.map(double, range(200), pure=False))
    answer = run.stop()
    _, tasks, frames = run.read.dropped
    assert len(run.read.tasks) + tasks == 260
    assert len(run.read.frames) + frames == 60
    assert frames > 0
    assert answer["interval"] > 0.01
    assert len(run.read.joined) == 2
