# SPDX-License-Identifier: BSD-3-Clause
"""The Dask task that runs in this thread: the runs it belongs to, and sending frames.

The worker plugin registers runs in ``runs``; without one, nothing is done here, and
distributed is not imported. Frames are sent to the scheduler as events under the mark
of a run, and none after the run has ended on that worker.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _probe
from ..coffea.guard import ForkSafeLock, guarded

KEPT_BYTES = 1 << 20
OUTBOX_WAIT_S = 0.1
OUTBOX_BYTES = 256 << 10

# {mark: {worker: the run there}}
runs: dict[str, dict[Any, WorkerRun]] = {}


class WorkerRun:
    """A run on one worker."""

    def __init__(self, run_id: bytes, client: int, name_key: bytes = b"") -> None:
        self.name_key = name_key  # of the collector
        self.run_id = run_id  # of decorated functions that no Runner calls
        self.client = client  # the collector's process
        self.lost = 0  # messages that could not be sent
        self.was_warned = False  # that the monitor has disarmed itself
        self.kept: deque[list[Any]] = deque()  # messages, the latest ones
        self.kept_bytes = 0
        self.unkept = 0

    def keep(self, message: list[Any]) -> None:
        """Keep what is sent with a result: a run without an output needs it."""
        self.kept.append(message)
        self.kept_bytes += len(message[2])
        self._drop_beyond(KEPT_BYTES)

    def _drop_beyond(self, most_bytes: int) -> None:
        while self.kept_bytes > most_bytes:
            self.kept_bytes -= len(self.kept.popleft()[2])
            self.unkept += 1

    def take_kept(self, most_bytes: int) -> tuple[list[Any], int]:
        """The kept messages that fit, and the number of those that do not."""
        self._drop_beyond(most_bytes)
        return list(self.kept), self.unkept


# Held while a message is sent and while a run ends: no message follows the last one of
# a run, and each is either sent or counted as lost.
gate = ForkSafeLock()

_reported = threading.local()  # start_s of the task whose start this thread reported


class Place(NamedTuple):
    """A task on a worker, and the runs it belongs to."""

    worker: Any
    address: str
    key: str
    marks: tuple[str, ...]
    begun_ago_s: float  # 0 from the second attempt in a task on

    def send(self, frames: bytes | None) -> bool:
        """Send frames as events; False: all runs have ended, or nothing to send."""
        if frames is None:
            return False
        with gate:
            marks = [mark for mark in self.marks if run_at(mark, self.worker)]
            message = [self.address, self.key, frames]
            return bool(marks) and _log(self.worker, marks, message)

    def keep(self, frames: bytes) -> None:
        """Keep frames that are sent with the result of this task."""
        with gate:
            for run in (run_at(mark, self.worker) for mark in self.marks):
                if run:
                    run.keep([self.address, self.key, frames])

    def report_disarmed(self) -> None:
        """Report once that the monitor has disarmed itself here."""
        status = _probe.status()
        if status["enabled"]:
            return
        why = f"the monitor gave up after {status['monitor_errors']} errors of its own"
        words = f"unmeasured: {why} (first: {status['first_error']})"
        with gate:
            for mark in self.marks:
                run = run_at(mark, self.worker)
                if run and not run.was_warned:
                    run.was_warned = True
                    _log(self.worker, [mark], [self.address, "", b"", words])


def run_at(mark: str, worker: Any) -> WorkerRun | None:
    return runs.get(mark, {}).get(worker)


def forget(mark: str, worker: Any) -> WorkerRun | None:
    """The run has ended on this worker."""
    workers = runs.get(mark, {})
    run = workers.pop(worker, None)
    if not workers:
        runs.pop(mark, None)
    return run


def _log(worker: Any, marks: list[str], message: list[Any]) -> bool:
    try:
        worker.log_event(marks[0] if len(marks) == 1 else marks, message)
    except Exception:  # a worker that is closing
        for run in filter(None, (run_at(mark, worker) for mark in marks)):
            run.lost += 1
        return False
    return True


# ---- which task ----------------------------------------------------------------------


def _thread_state() -> Any:
    """Dask's state of the task in this thread, or None."""
    module = sys.modules.get("distributed.worker")
    state = getattr(module, "thread_state", None)
    return state if hasattr(state, "execution_state") else None


def _place(state: Any, worker: Any, marks: tuple[str, ...]) -> Place:
    start_s, ago_s = getattr(state, "start_time", None), 0.0
    is_first = start_s != getattr(_reported, "start_s", None)  # attempt of the task
    if isinstance(start_s, float) and is_first:
        _reported.start_s = start_s
        ago_s = time.time() - start_s
    address = str(getattr(worker, "contact_address", None) or worker.address)
    return Place(worker, address, str(state.key), marks, ago_s)


def place_by_annotation() -> Place | None:
    """The task of this thread, if it was submitted inside the block of a run."""
    try:
        state = _thread_state()
        if state is None:
            return None
        worker = state.execution_state["worker"]
        noted = worker.state.tasks[state.key].annotations or ()
        marks = tuple(m for m, at in list(runs.items()) if m in noted and worker in at)
        return _place(state, worker, marks) if marks else None
    except Exception:  # the task is forgotten, or this Dask differs
        return None


def place_of(marks: tuple[str, ...]) -> tuple[Place | None, bool]:
    """The task of this thread, and whether one of these runs still goes on there.

    (None, True) in a process that a worker has started."""
    if not marks:
        return None, True
    try:
        state = _thread_state()
        if state is None:
            return None, True
        worker = state.execution_state["worker"]
        marks = tuple(mark for mark in marks if run_at(mark, worker))
        return (_place(state, worker, marks), True) if marks else (None, False)
    except Exception:  # this Dask differs
        return None, True


# ---- frames that are sent together ---------------------------------------------------


class Outbox:
    """Frames to be sent together, by task.

    A task may call a decorated function a million times, and an event costs more than
    such a call. The frames of the first call are sent at once, those of the others
    after a moment, by the event loop of the worker, or when there are many.
    """

    def __init__(self) -> None:
        self.waiting: dict[Place, bytearray] = {}

    def bound(self, place: Place) -> Callable[[bytes | None], None]:
        return functools.partial(self.put, place)

    def put(self, place: Place, frames: bytes | None) -> None:
        """Send frames of this task soon."""
        if frames is None:
            return
        with gate:
            is_first = place not in self.waiting
            held = self.waiting.setdefault(place, bytearray())
            held += frames
            is_full = len(held) > OUTBOX_BYTES
        if is_full:
            self.flush(place)
        elif is_first:
            flush = functools.partial(guarded, "frames that waited", self.flush, place)
            try:
                loop = place.worker.loop
                loop.add_callback(loop.call_later, OUTBOX_WAIT_S, flush)
            except Exception:  # this Dask differs, or the worker closes
                flush()

    def flush(self, place: Place) -> None:
        with gate:
            held = self.waiting.pop(place, None)
            if held:
                place.send(bytes(held))

    def take(self, mark: str, worker: Any) -> list[Any]:
        """The unsent messages of a run on a worker; those of other runs are sent."""
        with gate:
            places = [place for place in self.waiting if place.worker is worker]
            taken = [(place, self.waiting.pop(place)) for place in places]
        unsent = []
        for place, held in taken:
            if mark in place.marks:
                unsent.append([place.address, place.key, bytes(held)])
            others = tuple(other for other in place.marks if other != mark)
            place._replace(marks=others).send(bytes(held))
        return unsent


outbox = Outbox()
os.register_at_fork(after_in_child=outbox.waiting.clear)  # a child sends nothing
