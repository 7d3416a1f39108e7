# SPDX-License-Identifier: BSD-3-Clause
"""Frames on a worker of Dask that are sent together.

A task may call a decorated function for each of a million elements, and an event costs
the worker and the scheduler more than such a call. The first call of a task is told at
once, as it may be its only one; those behind it wait for a moment, on the event loop of
the worker, or until there is much to send.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from .dask_task import Place, gate
from .guard import guarded

WAIT_S = 0.1
MOST_BYTES = 256 << 10


class Outbox:
    """What waits in this process, by the task it is of."""

    def __init__(self) -> None:
        self.waiting: dict[Place, bytearray] = {}

    def bound(self, place: Place) -> Callable[[bytes | None], None]:
        return functools.partial(self.put, place)

    def put(self, place: Place, frames: bytes | None) -> None:
        """Send frames of this task soon."""
        if frames is None:
            return
        with gate.lock:
            is_first = place not in self.waiting
            held = self.waiting.setdefault(place, bytearray())
            held += frames
            is_full = len(held) > MOST_BYTES
        if is_full:
            self.flush(place)
        elif is_first:
            self._flush_later(place)

    def _flush_later(self, place: Place) -> None:
        flush = functools.partial(guarded, "frames that waited", self.flush, place)
        try:
            loop = place.worker.loop
            loop.add_callback(loop.call_later, WAIT_S, flush)
        except Exception:  # another Dask than we know, or a worker that closes
            flush()

    def flush(self, place: Place) -> None:
        with gate.lock:
            held = self.waiting.pop(place, None)
            if held:
                place.tell(bytes(held))

    def take(self, mark: str, worker: Any) -> list[Any]:
        """What a run on a worker has not heard yet, as messages; others hear it now."""
        with gate.lock:
            places = [place for place in self.waiting if place.worker is worker]
            taken = [(place, self.waiting.pop(place)) for place in places]
        unsent = []
        for place, held in taken:
            if mark in place.marks:
                unsent.append([place.address, place.key, bytes(held)])
            others = tuple(other for other in place.marks if other != mark)
            place._replace(marks=others).tell(bytes(held))
        return unsent

    def clear(self) -> None:
        """In a forked child, which sends nothing."""
        self.waiting = {}


outbox = Outbox()
os.register_at_fork(after_in_child=outbox.clear)
