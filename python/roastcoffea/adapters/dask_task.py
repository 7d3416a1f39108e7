# SPDX-License-Identifier: BSD-3-Clause
"""The task of Dask that runs in this thread: of which runs it is, and how to tell them.

A worker plugin says which runs a worker knows; everything here does nothing without it,
and distributed is never imported for it. Frames go to the scheduler as events under the
mark of a run, and none once the run has ended on that worker.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from typing import Any, NamedTuple

from .. import _probe
from .._address import address_of

KEPT_BYTES = 1 << 20

# {mark: {worker: how the run is known there}}
runs: dict[str, dict[Any, Known]] = {}


class Known:
    """A run on one worker."""

    def __init__(self, run_id: bytes, client: int) -> None:
        self.run_id = run_id  # of decorated functions that no Runner calls
        self.client = client  # the collector's process
        self.lost = 0  # messages that could not be sent
        self.was_warned = False  # that the monitor has given up here
        self.kept: deque[list[Any]] = deque()  # messages, the latest ones
        self.kept_bytes = 0
        self.unkept = 0

    def keep(self, message: list[Any]) -> None:
        """Hold what travels with a result: a run that gives no output asks for it."""
        self.kept.append(message)
        self.kept_bytes += len(message[2])
        self.drop_beyond(KEPT_BYTES)

    def drop_beyond(self, most_bytes: int) -> None:
        while self.kept_bytes > most_bytes:
            self.kept_bytes -= len(self.kept.popleft()[2])
            self.unkept += 1

    def given(self, most_bytes: int) -> tuple[list[Any], int]:
        """What is held and may be sent, and how much more there was."""
        self.drop_beyond(most_bytes)
        return list(self.kept), self.unkept


class Gate:
    """Whoever sends is inside, and so is who ends a run: nothing comes after its last
    word, and nothing is on its way that neither was sent nor is counted."""

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def renew(self) -> None:
        """In a forked child: another thread may have been inside."""
        self.lock = threading.RLock()


gate = Gate()
os.register_at_fork(after_in_child=gate.renew)


class _Seen(threading.local):
    """The task whose start has been told in this thread."""

    start_s = 0.0


_seen = _Seen()


class Place(NamedTuple):
    """A task on a worker, and the runs it is of."""

    worker: Any
    address: str
    key: str
    marks: tuple[str, ...]
    begun_ago_s: float  # 0 from the second attempt in a task on

    def tell(self, frames: bytes | None) -> bool:
        """Send frames; False when nobody hears them any more."""
        if frames is None:
            return False
        with gate.lock:
            marks = [mark for mark in self.marks if known_at(mark, self.worker)]
            message = [self.address, self.key, frames]
            return bool(marks) and _log(self.worker, marks, message)

    def keep(self, frames: bytes) -> None:
        """Hold frames that go with the result of this task."""
        with gate.lock:
            for mark in self.marks:
                known = known_at(mark, self.worker)
                if known:
                    known.keep([self.address, self.key, frames])

    def tell_trouble(self) -> None:
        """Say once that the monitor has given up here."""
        status = _probe.status()
        if status["enabled"]:
            return
        why = f"the monitor gave up after {status['monitor_errors']} errors of its own"
        words = f"unmeasured: {why} (first: {status['first_error']})"
        with gate.lock:
            for mark in self.marks:
                known = known_at(mark, self.worker)
                if known and not known.was_warned:
                    known.was_warned = True
                    _log(self.worker, [mark], [self.address, "", b"", words])


def known_at(mark: str, worker: Any) -> Known | None:
    return runs.get(mark, {}).get(worker)


def forget(mark: str, worker: Any) -> Known | None:
    """The run has ended on this worker; how it was known."""
    workers = runs.get(mark, {})
    known = workers.pop(worker, None)
    if not workers:
        runs.pop(mark, None)
    return known


def _log(worker: Any, marks: list[str], message: list[Any]) -> bool:
    try:
        worker.log_event(marks[0] if len(marks) == 1 else marks, message)
    except Exception:  # a worker that is closing
        for known in filter(None, (known_at(mark, worker) for mark in marks)):
            known.lost += 1
        return False
    return True


def _thread_state() -> Any:
    """What Dask keeps of the task in this thread; None when there is none."""
    module = sys.modules.get("distributed.worker")
    state = getattr(module, "thread_state", None)
    return state if hasattr(state, "execution_state") else None


def place_of_known() -> Place | None:
    """The task of this thread, if it was sent from inside the block of a run."""
    try:
        state = _thread_state()
        if state is None:
            return None
        worker, key = state.execution_state["worker"], state.key
        noted = worker.state.tasks[key].annotations or ()
        marks = tuple(m for m, at in list(runs.items()) if m in noted and worker in at)
        if not marks:
            return None
        ago_s = _ago(getattr(state, "start_time", None))
        return Place(worker, address_of(worker), str(key), marks, ago_s)
    except Exception:  # the task is forgotten, or another Dask than we know
        return None


def place_of(marks: tuple[str, ...]) -> tuple[Place | None, bool]:
    """Where a task of these runs is, and whether any of them still goes on there.

    In a process that a worker has started nobody knows: (None, True)."""
    if not marks:
        return None, True
    try:
        state = _thread_state()
        if state is None:
            return None, True
        worker = state.execution_state["worker"]
        marks = tuple(mark for mark in marks if known_at(mark, worker))
        if not marks:
            return None, False
        ago_s = _ago(getattr(state, "start_time", None))
        return Place(worker, address_of(worker), str(state.key), marks, ago_s), True
    except Exception:  # another Dask than we know
        return None, True


def _ago(start_s: Any) -> float:
    """How long the task runs already; 0 for what it does after its first attempt."""
    if not isinstance(start_s, float) or start_s == _seen.start_s:
        return 0.0
    _seen.start_s = start_s
    return time.time() - start_s
