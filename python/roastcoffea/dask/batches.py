# SPDX-License-Identifier: BSD-3-Clause
"""Reads pages of a scheduler into a run, and compares its clock with ours.

A plugin numbers its pages and workers from the start: a new one has a reader of its
own. Pages that could not be read are pulled again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea.dask.scheduler_pages import boot_id

SOON_S = 0.1  # an answer within this time gives the clock well enough
MOST_LEARNED = 3  # answers, then the best of them is used


class Batches:
    """Pages of one scheduler; ``core`` takes them."""

    def __init__(self, core: Any, scheduler: str) -> None:
        self.core = core
        self.scheduler = scheduler
        self.after = 0  # the last page that was read
        self.clock = Clock()
        self.is_left = False  # the run takes no more pages
        self._plugin = ""  # whose pages these are
        self._one_page = threading.Lock()

    def recognise(self, plugin: str) -> None:
        if plugin != self._plugin:
            self._plugin = plugin
            self.after = 0

    def leave(self) -> None:
        """Stop reading, after the current page."""
        self.is_left = True
        with self._one_page:
            pass

    def take(self, pages: Iterable[Any]) -> list[Exception]:
        """Read the new pages; the errors of those that cannot be read. After a
        :class:`MemoryError` the others are pulled again."""
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

    The fastest answer is the best: its error is at most half the time it took.
    """

    def __init__(self) -> None:
        self.offset_ns = 0
        self.is_settled = False  # good enough: times cannot be corrected later
        self._learned = 0
        self._shortest_s = float("inf")
        self._boot = boot_id()

    def learn(
        self, sent_s: float, received_s: float, answer: Mapping[str, Any]
    ) -> None:
        """Use an answer of the scheduler, and our times around it."""
        took_s = received_s - sent_s
        self._learned += 1
        is_soon = 0 <= took_s < SOON_S
        self.is_settled |= is_soon or self._learned >= MOST_LEARNED
        if not 0 <= took_s < self._shortest_s:
            return
        self._shortest_s = took_s
        if self._boot and answer.get("boot") == self._boot:
            self.is_settled = True
            return  # one kernel, one clock
        ahead_s = (sent_s + received_s) / 2 - answer["now"]
        self.offset_ns = round(ahead_s * 1e9)
