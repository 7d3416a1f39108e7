# SPDX-License-Identifier: BSD-3-Clause
"""Packing of a chunk's result, which coffea does after the work function has returned.

The end frame of such an attempt is sent after packing. Until then coffea's function is
replaced by one that reports when it has packed. An end frame whose result is never
packed is sent before the thread's next attempt, or when the run ends.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from .. import _probe

MODULE, NAME = "coffea.processor.executor", "_compress"

# Sends the end frame of an attempt, whose result was packed to so many bytes (0: not
# known); None: it was not packed.
Finish = Callable[[int | None], None]


def _space() -> dict[str, Any]:
    """Where coffea keeps the function."""
    return getattr(sys.modules.get(MODULE), "__dict__", {})


class Packing:
    """The replacement in this process, in place while an end frame waits."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # By thread: run id and the function that sends the end; None while it packs.
        self.waiting: dict[int, tuple[bytes, Finish] | None] = {}
        self.original: Any = None
        self.ours: Any = None

    def is_possible(self) -> bool:
        """Whether this coffea has such a function."""
        return callable(_space().get(NAME))

    def expect(self, run_id: bytes, finish: Finish) -> bool:
        """Call ``finish`` when this thread has packed; False: coffea does not pack."""
        if not self.is_possible():
            return False
        with self.lock:
            self.waiting[threading.get_ident()] = run_id, finish
            if self.ours is None:
                self.original = _space()[NAME]
                self.ours = _space()[NAME] = _Packed(self, self.original)
        return True

    def flush(self, run_id: bytes | None = None) -> None:
        """Send the waiting end frames, of one run or of all."""
        with self.lock:
            waiting = list(self.waiting.items())
        for thread, entry in waiting:
            if entry is not None and run_id in (None, entry[0]):
                self.flush_thread(thread)

    def flush_thread(self, thread: int | None = None) -> None:
        """Send the waiting end frame of this thread, or of another one."""
        thread = threading.get_ident() if thread is None else thread
        if self.waiting.get(thread) is None:
            return
        with self.lock:
            entry = self.waiting.get(thread)
            self.drop(thread)
        if entry is not None:
            entry[1](None)

    def drop(self, thread: int) -> None:
        """The lock is held."""
        self.waiting.pop(thread, None)
        if not self.waiting:
            self.restore()

    def clear(self) -> None:
        """Send all end frames and restore coffea's function."""
        self.flush()
        with self.lock:
            self.waiting.clear()
            self.restore()

    def restore(self) -> None:
        if self.ours is not None and _space().get(NAME) is self.ours:
            _space()[NAME] = self.original
        self.original = self.ours = None

    def renew(self) -> None:
        """In a forked child: another thread may have held the lock."""
        self.restore()
        self.lock = threading.Lock()
        self.waiting = {}


@_probe.frameless_call
class _Packed:
    """coffea's function, which reports when it has packed."""

    def __init__(self, packing: Packing, original: Callable[..., Any]) -> None:
        functools.update_wrapper(self, original)
        self.packing = packing
        self.function = original

    __call__: Callable[..., Any]  # before_call(), the function, after_call(); from C

    def before_call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], undo: list[Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]:
        thread, waiting = threading.get_ident(), self.packing.waiting
        with self.packing.lock:
            entry = waiting.get(thread)
            if entry is not None:
                waiting[thread] = None
        return self.function, args, kwargs, entry

    def after_call(self, entry: Any, packed: Any, error: BaseException | None) -> Any:
        if entry is not None:
            try:
                entry[1](len(packed) if isinstance(packed, bytes) else 0)
            finally:
                with self.packing.lock:
                    self.packing.drop(threading.get_ident())
        return packed

    def note_error(self, error: Exception) -> None:
        """Count an error around the call."""
        _probe.note_error("packed result", error)


packing = Packing()
os.register_at_fork(after_in_child=packing.renew)
