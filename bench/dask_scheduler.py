# SPDX-License-Identifier: BSD-3-Clause
"""The cases of Dask's scheduler: a tick, what samples occupy, how they leave.

The scheduler is python/tests/simulated_scheduler.py's: Dask's own states of 1000
workers, which do not exist. They report as often as Dask sets for so many, every 6
seconds; a sample is a worker at one tick, changed since the last or not. 0.1.2 is
driven through the public methods of its backend, by a client that calls the scheduler
directly; what it sends is pickled, as Dask does it. d4h and d6 have no reference: the
limit stands in its place, so the goal is 1.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "python" / "tests"))

import simulated_scheduler
from records import _core

THEIRS = _core is None
WORKERS, SPEAK_EVERY_S, TASKS_EACH = 1000, 6, 3
SHIPPED_TICKS = 100 if THEIRS else 3600
KEPT_TICKS = 100 if THEIRS else 3600
HOLD_LIMIT_NS, HOOK_LIMIT_NS, TASK_LIMIT_BYTES = 10_000_000, 3_000, 40
TASKS = 5000
MARK = "roastcoffea-0123456789abcdef"
cpu_clock, clock = time.thread_time_ns, time.perf_counter_ns


class Crowd:
    """A scheduler of many workers, one second after the other."""

    def __init__(self) -> None:
        self.scheduler = simulated_scheduler.Scheduler()
        self.now = float(int(time.time()))
        self.draw = random.Random(1)
        for _ in range(WORKERS):
            state = self.scheduler.workers[self.scheduler.join(self.now)]
            for key in range(TASKS_EACH):
                state.processing.add(simulated_scheduler.Task(key))
                state.task_prefix_count["work"] += 1
        self.states = list(self.scheduler.workers.values())

    def second(self) -> None:
        """A sixth of the workers say what they do."""
        self.now += 1
        for state in self.states[int(self.now) % SPEAK_EVERY_S :: SPEAK_EVERY_S]:
            before = state.metrics["memory"]
            self.scheduler.beat(state, self.now)
            draw = self.draw.random
            state.metrics |= {
                "memory": before + int(4e6 * draw()) - 2_000_000,
                "cpu": round(90 + 20 * draw(), 1),
                "event_loop_interval": 0.02 + 0.002 * draw(),
            }


class Client:
    """Calls the scheduler, which is at hand; what comes back has travelled."""

    def __init__(self, scheduler: Any, ships: bool) -> None:
        self.scheduler = scheduler
        self.ships = ships

    def run_on_scheduler(self, function: Callable[..., Any], **more: Any) -> Any:
        found = function(dask_scheduler=self.scheduler, **more)
        return pickle.loads(pickle.dumps(found)) if self.ships else found


class Theirs:
    """The sampler of 0.1.2."""

    def __init__(self, ships: bool = True) -> None:
        from roastcoffea.backends.dask import DaskMetricsBackend

        self.crowd = Crowd()
        self.client = Client(self.crowd.scheduler, ships)
        self.backend = DaskMetricsBackend(self.client)

    def ticks(self, count: int) -> int:
        """CPU nanoseconds of so many ticks."""
        return asyncio.run(self._ticks(count))

    async def _ticks(self, count: int) -> int:
        self.backend.start_tracking(0.0)  # one tick for each turn of the loop
        spent, start = 0, cpu_clock()
        for _ in range(count):
            await asyncio.sleep(0)
            spent += cpu_clock() - start
            self.crowd.second()
            start = cpu_clock()
        start = clock()
        self.found = self.backend.stop_tracking()  # it cannot go on in another loop
        self.stop_ns = clock() - start
        return spent


class Ours:
    """The scheduler part, and a client that pulls every second into a run."""

    def __init__(self) -> None:
        from roastcoffea.dask import install, scheduler_plugin

        self.crowd = Crowd()
        payload = install.scheduler_payload(MARK, "", 1.0)
        self.plugin = scheduler_plugin.Plugin(payload)
        simulated_scheduler.install(self.crowd.scheduler, self.plugin)
        self.run = _core.Run(0, 0)
        self.after = self.longest_ns = 0

    def tick(self) -> None:
        """As the plugin does it, piece by piece."""
        ticking = self.plugin.ticking()
        going = True
        while going:
            start = cpu_clock()
            going = next(ticking, self) is not self
            self.longest_ns = max(self.longest_ns, cpu_clock() - start)

    def pull(self) -> None:
        more = True
        while more:
            start = cpu_clock()
            answer = self.plugin.pages.pull(self.after)
            pickle.dumps(answer)
            self.longest_ns = max(self.longest_ns, cpu_clock() - start)
            more = self.take(answer)

    def take(self, answer: dict[str, Any]) -> bool:
        for number, page in answer["pages"]:
            self.after = number
            self.run.add_batch(page, 0)
        return bool(answer["more"])

    def ticks(self, count: int) -> int:
        spent = 0
        for _ in range(count):
            self.crowd.second()
            start = cpu_clock()
            self.tick()
            spent += cpu_clock() - start
            self.pull()
        return spent

    def stop(self) -> None:
        start = clock()
        self.take(asyncio.run(self._stop()))
        self.stop_ns = clock() - start

    async def _stop(self) -> dict[str, Any]:
        """With somebody beside it who wants the loop all the time."""
        beside = asyncio.ensure_future(self._wait_for_turns())
        answer = await self.plugin.stop(after=self.after, token=self.plugin.token)
        beside.cancel()
        return dict(answer)

    async def _wait_for_turns(self) -> None:
        while True:
            start = cpu_clock()
            await asyncio.sleep(0)
            self.longest_ns = max(self.longest_ns, cpu_clock() - start)


@functools.cache
def side() -> Any:
    return Theirs() if THEIRS else Ours()


def d1(count: int) -> int:
    """A tick of 1000 workers."""
    return int(side().ticks(count))


def d3(count: int) -> int:
    """Bytes that a fresh process grows by, per 1000 workers and second."""
    command = [sys.executable, __file__]
    grown_bytes, samples = map(int, subprocess.check_output(command, text=True).split())
    return round(grown_bytes * count / samples * 1000)


@functools.cache
def shipped() -> tuple[int, int]:
    """Nanoseconds to stop and ship, per 1000 samples; the longest hold meanwhile."""
    gc.collect()
    gc.freeze()  # what other cases have left here would be looked through
    one = Theirs() if THEIRS else Ours()
    one.ticks(SHIPPED_TICKS)
    if not THEIRS:
        one.stop()
    gc.unfreeze()
    held_ns = HOLD_LIMIT_NS if THEIRS else one.longest_ns
    return round(one.stop_ns / SHIPPED_TICKS * 1000 / WORKERS), held_ns


def limit(value: int, count: int) -> int:
    """What is known already. It takes its time, or it would be called ever more."""
    time.sleep(0.02)
    return value * count


def d4(count: int) -> int:
    """1000 samples of workers, at the end of the run."""
    shipped.cache_clear()
    return shipped()[0] * count


def d4h(count: int) -> int:
    """The longest hold of the event loop, in CPU time: others hold a machine, too."""
    return limit(shipped()[1], count)


@functools.cache
def tasks() -> tuple[Any, list[str], dict[str, Any]]:
    """The hook of a plugin with a task for each of these keys."""
    ours = Ours()
    worker = ours.crowd.states[0]
    keys = [f"work-{n:032x}" for n in range(TASKS)]
    for key in keys:
        ours.crowd.scheduler.tasks[key] = task = simulated_scheduler.Task(
            key, mark=MARK
        )
        task.processing_on = worker
    parts = [{"action": "compute", "start": 1.0, "stop": 2.0}]
    told = {"worker": worker.address, "startstops": parts, "nbytes": 28}
    told |= {"type": b"", "typename": "int", "thread": 1, "stimulus_id": "s"}
    return ours, keys, told


def d6(count: int) -> int:
    """A call of the hook: two of four steps of a task do not concern it."""
    if THEIRS:
        return limit(HOOK_LIMIT_NS, count)
    ours, keys, told = tasks()
    hook, steps = ours.plugin.transition, 4
    start = cpu_clock()
    for key in keys:
        hook(key, "released", "waiting", stimulus_id="s")
        hook(key, "waiting", "processing", stimulus_id="s")
        hook(key, "processing", "memory", **told)
        hook(key, "memory", "released", stimulus_id="s")
    spent = cpu_clock() - start
    ours.plugin.pages.pull(1 << 60)
    return round(spent * count / (TASKS * steps))


def d6e(count: int) -> int:
    """The dearest call: a task that ends."""
    if THEIRS:
        return limit(HOOK_LIMIT_NS, count)
    ours, keys, told = tasks()
    hook = ours.plugin.transition
    start = cpu_clock()
    for key in keys:
        hook(key, "processing", "memory", **told)
    spent = cpu_clock() - start
    ours.plugin.pages.pull(1 << 60)
    return round(spent * count / TASKS)


def d6b(count: int) -> int:
    """Bytes of a task on the scheduler until it is pulled."""
    if THEIRS:
        return limit(TASK_LIMIT_BYTES, count)
    ours, keys, told = tasks()
    pages = ours.plugin.pages
    before = pages.whole_bytes + sum(map(len, pages.open))
    for key in keys:
        ours.plugin.transition(key, "processing", "memory", **told)
    grown = pages.whole_bytes + sum(map(len, pages.open)) - before
    pages.pull(1 << 60)
    return round(grown * count / TASKS)


CASES = {case.__name__: case for case in (d1, d3, d4, d4h, d6, d6b, d6e)}


def main() -> None:
    """For d3: prints the bytes by which this process grows, and the samples kept."""
    from kept import rss_bytes

    one: Any = Theirs(ships=False) if THEIRS else Ours()
    one.ticks(5)
    gc.collect()
    before = rss_bytes()
    one.ticks(KEPT_TICKS)
    gc.collect()
    print(rss_bytes() - before, WORKERS * KEPT_TICKS, flush=True)


if __name__ == "__main__":
    main()
