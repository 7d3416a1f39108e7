# SPDX-License-Identifier: BSD-3-Clause
"""Pages of a scheduler on their way into a run, and its clock beside ours.

A plugin counts its pages and its workers from the start: one that was made anew has a
reader of its own. What cannot be read now is asked for again with the next pull.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea.dask.scheduler_plugin import boot_id

SOON_S = 0.1  # an answer within it gives the clock well enough
MOST_LEARNED = 3  # answers, after which the best of them must do


class Batches:
    """Pages of one scheduler; ``core`` takes them."""

    def __init__(self, core: Any, scheduler: str) -> None:
        self.core = core
        self.scheduler = scheduler
        self.after = 0  # the last page that was read
        self.clock = Clock()
        self.is_left = False  # nothing is added to the run any more
        self._plugin = ""  # whose pages these are
        self._one_page = threading.Lock()

    def recognise(self, plugin: str) -> None:
        if plugin != self._plugin:
            self._plugin = plugin
            self.after = 0

    def leave(self) -> None:
        """Nothing is read after this: the page in hand is waited for."""
        self.is_left = True
        with self._one_page:
            pass

    def take(self, pages: Iterable[Any]) -> list[Exception]:
        """Read those that are new. What can never be read is passed over, and why is
        given; :class:`MemoryError` leaves the rest to be asked for again."""
        errors: list[Exception] = []
        for number, page in pages:
            if number <= self.after:
                continue
            try:
                with self._one_page:
                    if self.is_left:
                        break
                    self._read(bytes(page))
            except MemoryError:
                raise
            except Exception as error:
                errors.append(error)
            self.after = number
        return errors

    def _read(self, page: bytes) -> None:
        reader = f"{self.scheduler} {self._plugin}"
        try:
            self.core.add_batch(page, self.clock.offset_ns, reader)
        except MemoryError:  # another thread may have freed some
            self.core.add_batch(page, self.clock.offset_ns, reader)


class Clock:
    """How far this machine's clock is ahead of the scheduler's.

    The quickest answer is the best: it was made in the middle, give or take half the
    time it took.
    """

    def __init__(self) -> None:
        self.offset_ns = 0
        self.is_settled = False  # good enough for what cannot be moved again
        self._learned = 0
        self._shortest_s = float("inf")
        self._boot = boot_id()

    def learn(self, asked: float, answered: float, answer: Mapping[str, Any]) -> None:
        """Times of this machine around an answer with the scheduler's time in it."""
        took_s = answered - asked
        self._learned += 1
        is_soon = 0 <= took_s < SOON_S
        self.is_settled |= is_soon or self._learned >= MOST_LEARNED
        if not 0 <= took_s < self._shortest_s:
            return
        self._shortest_s = took_s
        if self._boot and answer.get("boot") == self._boot:
            self.is_settled = True
            return  # one kernel, one clock
        ahead_s = (asked + answered) / 2 - answer["now"]
        self.offset_ns = round(ahead_s * 1e9)
