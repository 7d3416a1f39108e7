# SPDX-License-Identifier: BSD-3-Clause
"""Two clusters that do the same work at the same time on the same cores.

On a shared machine the same work takes 1.0 or 1.7 times the CPU seconds, for as long as
somebody else uses the other half of a core: runs that follow each other differ by more
than what is looked for. Here the kernel lets both sides take turns on each core every
few milliseconds, so that they meet the same machine. Which cluster is monitored changes
every time: a pair is two such rounds, and what one of them gains by its place in memory
the other one loses.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from pairs import Compared

ENOUGH_S = 60.0  # for a cluster to close
Ready = Callable[[], object]  # called when all is set; returns when both are
Serve = Callable[[Path, Ready, Connection], None]  # answers "plain", "armed", "close"


def stay_on(cpu: int) -> None:
    """This process, threads that it has and will have."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {cpu})


def _serve(serve: Serve, samples: Path, barrier: Barrier, end: Connection) -> None:
    try:
        serve(samples, barrier.wait, end)
    finally:  # or the other side would wait for this one for ever
        barrier.abort()
        end.close()


class Together(Compared):
    """CPU seconds of both sides, each the geometric mean of two rounds."""

    def __init__(self, serve: Serve, samples: Path) -> None:
        super().__init__()
        context: Any = multiprocessing.get_context("spawn")
        self._barrier = context.Barrier(2)
        self._ends: list[Connection] = []
        self._processes = []
        for _ in range(2):
            own, other = context.Pipe()
            process = context.Process(
                target=_serve, args=(serve, samples, self._barrier, other)
            )
            process.start()
            other.close()
            self._ends.append(own)
            self._processes.append(process)

    def add(self) -> None:
        plain_0, armed_1 = self._round("plain", "armed")
        armed_0, plain_1 = self._round("armed", "plain")
        self.plain.append(math.sqrt(plain_0 * plain_1))
        self.armed.append(math.sqrt(armed_0 * armed_1))

    def close(self) -> None:
        for end in self._ends:
            with contextlib.suppress(OSError):  # it is gone already
                end.send("close")
        for process in self._processes:
            process.join(ENOUGH_S)
            process.terminate()

    def _round(self, *sides: str) -> list[float]:
        for end, side in zip(self._ends, sides, strict=True):
            end.send(side)
        return [end.recv() for end in self._ends]
