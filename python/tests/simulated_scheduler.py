# SPDX-License-Identifier: BSD-3-Clause
"""A scheduler of thousands of workers that are not there.

Workers are Dask's own WorkerState objects; the scheduler around them has only what the
scheduler part touches, and its clock is set by hand. For test_dask_scale.py and for
bench/dask_scheduler.py, where the reference uses it too: nothing of ours at import.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from distributed.core import Status
from distributed.scheduler import WorkerState

HEARTBEAT = {
    "cpu": 97.5,
    "memory": 1_234_567_890,
    "time": 1.0,
    "num_fds": 30,
    "host_net_io": {"read_bps": 1234.5, "write_bps": 99.5},
    "host_disk_io": {"read_bps": 4096.0, "write_bps": 0.0},
    "managed_bytes": 1000,
    "spilled_bytes": {"memory": 0, "disk": 0},
    "event_loop_interval": 0.0213,
    "task_counts": {},
}


class Clock:
    """A clock that the test advances."""

    def __init__(self, now: float = 1_760_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def install(self, patch: Any) -> None:
        from roastcoffea.dask import scheduler_pages, scheduler_plugin

        for part in (scheduler_pages, scheduler_plugin):
            for space in _globals_of(part):
                for name in {"time", "monotonic"} & space.keys():
                    patch.setitem(space, name, self)


def _globals_of(module: Any) -> list[dict[str, Any]]:
    """Of its classes, too: unpickling them in this process gives them methods anew."""
    kinds = [each for each in vars(module).values() if isinstance(each, type)]
    methods = [each for kind in kinds for each in vars(kind).values()]
    spaces = [getattr(each, "__globals__", {}) for each in methods]
    return [vars(module), *spaces]


class Named:
    """Something with a name."""

    def __init__(self, name: str) -> None:
        self.name = name


class Task:
    """As much of a TaskState as is looked at."""

    def __init__(self, key: Any, prefix: str = "work", mark: str = "") -> None:
        self.key = key
        self.prefix = Named(prefix)
        self.annotations = {mark: True} if mark else None
        self.processing_on: Any = None
        self.who_wants: Any = {"client"}
        self.waiters: Any = set()


class Scheduler:
    """As much of a Scheduler as is looked at."""

    def __init__(self) -> None:
        self.workers: dict[str, Any] = {}
        self.tasks: dict[Any, Task] = {}
        self.plugins: dict[str, Any] = {}
        self.handlers: dict[str, Any] = {}
        self.worker_plugins: dict[str, Any] = {}
        self.cumulative_worker_metrics: dict[Any, float] = defaultdict(int)
        self.extensions: dict[str, Any] = {}
        self.total_nthreads = 0
        self.made = 0

    def _calc_occupancy(self, counts: dict[str, int], network: float) -> float:
        return 0.5 * sum(counts.values())

    async def broadcast(self, *, msg: Any, workers: list[str], **more: Any) -> Any:
        await asyncio.sleep(0)
        return {each: {"status": "OK"} for each in workers}

    def join(self, now: float) -> str:
        """A worker that was never there before."""
        self.made += 1
        address = f"tcp://10.0.{self.made % 250}.{self.made // 250}:4000"
        self.workers[address] = state = WorkerState(
            address=address,
            status=Status.running,
            pid=self.made,
            name=str(self.made),
            nthreads=4,
            memory_limit=8_000_000_000,
            local_directory="",
            nanny=None,
            server_id=address,
            scheduler=self,
        )
        self.total_nthreads += 4
        self.beat(state, now)
        for plugin in list(self.plugins.values()):
            plugin.add_worker(self, address)
        return address

    def beat(self, state: Any, now: float) -> None:
        """A heartbeat arrives."""
        state.last_seen = now
        state.time_delay = 0.25
        state.metrics = dict(HEARTBEAT)
        state.metrics["memory"] += int(now) % 1000

    def leave(
        self, address: str, stimulus_id: str = "handle-worker-cleanup-1.5"
    ) -> None:
        del self.workers[address]
        self.total_nthreads -= 4
        for plugin in list(self.plugins.values()):
            plugin.remove_worker(self, address, stimulus_id=stimulus_id)

    def move(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """A task takes a step."""
        reported = {"stimulus_id": "s", **more}
        for plugin in list(self.plugins.values()):
            plugin.transition(key, start, finish, **reported)

    def begin(self, key: Any, worker: Any, mark: str = "") -> None:
        """A worker gets a task."""
        self.tasks[key] = task = Task(key, mark=mark)
        task.processing_on = worker
        self.move(key, "waiting", "processing")


def install(scheduler: Scheduler, plugin: Any) -> None:
    """What register_scheduler_plugin does; the plugin does not tick by itself."""

    async def start() -> None:
        await plugin.start(scheduler)
        plugin._cancel()

    asyncio.run(start())
    scheduler.plugins[plugin.mark] = plugin


def stop(plugin: Any, **more: Any) -> dict[str, Any]:
    """What the client's stop gets."""
    answer: dict[str, Any] = asyncio.run(plugin.stop(**{"token": plugin.token, **more}))
    return answer


def made(workers: int, clock: Clock, **more: Any) -> tuple[Scheduler, Any]:
    """A scheduler of so many workers, and the plugin of a run on it."""
    from roastcoffea.dask.scheduler_plugin import Plugin
    from scheduler_runs import new_mark, payload

    scheduler = Scheduler()
    for _ in range(workers):
        scheduler.join(clock.now)
    plugin = Plugin(payload(new_mark(), **{"interval": 1.0, **more}))
    install(scheduler, plugin)
    return scheduler, plugin


def tick(plugin: Any) -> int:
    """One tick; how often it stopped to breathe."""
    return sum(1 for _ in plugin.ticking())


def pull(plugin: Any, read: Any, after: int) -> int:
    """Everything that is there; the number of the last page."""
    more = True
    while more:
        answer = plugin.pages.pull(after)
        more = answer["more"]
        for number, page in answer["pages"]:
            read.add(page)
            after = number
    return after


def held_bytes(plugin: Any) -> int:
    return plugin.pages.whole_bytes + sum(map(len, plugin.pages.open))
