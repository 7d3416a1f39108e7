# SPDX-License-Identifier: BSD-3-Clause
"""Packing of a chunk's result, which coffea does after the work function has returned.

Until it is packed, coffea's function for it is replaced by one that measures how long
that took.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

MODULE, NAME = "coffea.processor.executor", "_compress"

OnPacked = Callable[[], None]


class _Waiting(threading.local):
    """What is called after this thread's next packing."""

    on_packed: OnPacked | None = None


def _space() -> dict[str, Any]:
    """Where coffea keeps the function."""
    return getattr(sys.modules.get(MODULE), "__dict__", {})


class Packing:
    """The replacement in this process, in place while a thread waits."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting = _Waiting()
        self.threads: set[int] = set()  # those that wait
        self.original: Any = None
        self.ours: Any = None

    def is_possible(self) -> bool:
        """Whether this coffea has such a function."""
        return callable(_space().get(NAME))

    def expect(self, on_packed: OnPacked) -> bool:
        """Call ``on_packed`` when this thread has packed; False when it never will."""
        if not self.is_possible():
            return False
        with self.lock:
            self.waiting.on_packed = on_packed
            self.threads.add(threading.get_ident())
            if self.ours is None:
                self.original = _space()[NAME]
                self.ours = _space()[NAME] = self.wrap(self.original)
        return True

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _compress(*args: Any, **kwargs: Any) -> Any:
            on_packed, self.waiting.on_packed = self.waiting.on_packed, None
            if on_packed is None:
                return original(*args, **kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                try:
                    on_packed()
                finally:
                    self.done()

        return _compress

    def forget(self) -> None:
        """This thread packs nothing any more."""
        if self.waiting.on_packed is not None:
            self.waiting.on_packed = None
            self.done()

    def done(self) -> None:
        with self.lock:
            self.threads.discard(threading.get_ident())
            if not self.threads:
                self.restore()

    def clear(self) -> None:
        """Coffea's own function again, even if threads still wait."""
        with self.lock:
            self.threads.clear()
            self.restore()

    def restore(self) -> None:
        if self.ours is not None and _space().get(NAME) is self.ours:
            _space()[NAME] = self.original
        self.original = self.ours = None

    def renew(self) -> None:
        """In a forked child, which packs nothing and may find the lock taken."""
        self.restore()
        self.lock = threading.Lock()
        self.waiting = _Waiting()
        self.threads = set()


packing = Packing()
os.register_at_fork(after_in_child=packing.renew)
