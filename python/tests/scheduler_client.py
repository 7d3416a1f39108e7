# SPDX-License-Identifier: BSD-3-Clause
"""What a client does with a scheduler, without a run: one that can be made slow, and
code that takes its batches.

A LocalCluster has its scheduler in the client's event loop: it cannot be slow alone.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from distributed import Client, get_worker

from clusters import GONE_S, Surrounded, await_until, scheduler_state
from dask_programs import Programs, our_path
from roastcoffea.dask import watch as watch_module
from roastcoffea.dask.spans import new_mark
from roastcoffea.dask.watch import Watch


class Apart(Programs):
    """The programs of a cluster, one of which can be stopped for a while."""

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """The scheduler does nothing meanwhile, and loses nothing that it is sent."""
        scheduler = self._started[0]
        scheduler.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            scheduler.send_signal(signal.SIGCONT)


def start_apart(folder: Path) -> Iterator[tuple[Apart, Client]]:
    """One worker; for a fixture."""
    with Apart(folder, *our_path()) as programs:
        programs.add_worker()
        with programs.client(1) as client:
            yield programs, client


def nothing_left(client: Client) -> bool:
    """Whether a scheduler has nothing of ours, as far as names tell."""
    state = client.run_on_scheduler(scheduler_state)
    names = (*state["plugins"], *state["worker_plugins"], *state["handlers"])
    return not state["topics"] and not any("roast" in name for name in names)


def soon_left(client: Client) -> None:
    """Nothing of a run that ends now is left when it must not be."""
    await_until(lambda: nothing_left(client), GONE_S)


def surroundings(client: Client) -> Surrounded:
    """As they are when the runs before have left nothing."""
    await_until(lambda: nothing_left(client))
    return Surrounded(client)


class Core:
    """In place of a run's: keeps batches; ``fails`` is called with each one first."""

    def __init__(self, fails: Callable[[bytes], None] = lambda batch: None) -> None:
        self.batches: list[bytes] = []
        self.readers: list[str] = []
        self.offsets_ns: set[int] = set()
        self.calls = 0
        self.fails = fails

    def add_batch(self, batch: bytes, offset_ns: int, reader: str) -> None:
        self.calls += 1
        self.fails(batch)
        self.batches.append(batch)
        self.readers.append(reader)
        self.offsets_ns.add(offset_ns)


@contextlib.contextmanager
def watched(client: Client, core: Core, interval_s: float = 0.05) -> Iterator[Watch]:
    """Until the end of the block; nothing is left then."""
    watch = Watch(client, core, new_mark(), interval_s)
    assert watch.start()
    yield watch
    watch.stop(())
    soon_left(client)


def pull_fast(monkeypatch: Any) -> None:
    """Pulled all the time."""
    monkeypatch.setattr(watch_module, "PULL_EVERY_S", 0.01)
    monkeypatch.setattr(watch_module, "LONGEST_PAUSE_S", 0.05)


async def forget(mark: str, dask_scheduler: Any) -> None:
    """What the plugin does after a minute without a pull."""
    await dask_scheduler.plugins[mark]._remove_itself()


def tell(mark: str, times: int, size: int) -> None:
    """In a task: send events of the run, each of which fills a page."""
    worker = get_worker()
    key = worker.get_current_task()
    for _ in range(times):
        worker.log_event(mark, [worker.address, key, bytes(size)])
