# SPDX-License-Identifier: BSD-3-Clause
"""Packing of a chunk's result, which coffea does after the work function has returned.

From then until it is packed, coffea's function for it is replaced by one that tells the
attempt how long that took.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

MODULE, NAME = "coffea.processor.executor", "_compress"

Told = Callable[[], None]


class _Waiting(threading.local):
    """What this thread's next packing is told to."""

    told: Told | None = None


class Packing:
    """The replacement in this process, in place while somebody waits."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting = _Waiting()
        self.count = 0
        self.original: Any = None
        self.ours: Any = None

    def is_possible(self) -> bool:
        """Whether this coffea has such a function."""
        return callable(getattr(sys.modules.get(MODULE), NAME, None))

    def expect(self, told: Told) -> None:
        """Call ``told`` when this thread has packed."""
        if not self.is_possible():
            return
        with self.lock:
            self.waiting.told = told
            self.count += 1
            if self.count == 1:
                module: Any = sys.modules[MODULE]
                self.original = vars(module)[NAME]
                self.ours = self.wrap(self.original)
                setattr(module, NAME, self.ours)

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _compress(*args: Any, **kwargs: Any) -> Any:
            told, self.waiting.told = self.waiting.told, None
            if told is None:
                return original(*args, **kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                told()
                self.done()

        return _compress

    def forget(self) -> None:
        """This thread packs nothing any more."""
        if self.waiting.told is not None:
            self.waiting.told = None
            self.done()

    def done(self) -> None:
        with self.lock:
            self.count = max(self.count - 1, 0)
            if self.count == 0:
                self.restore()

    def restore(self) -> None:
        """Coffea's own function again, whoever still waits."""
        module: Any = sys.modules.get(MODULE)
        if self.ours is not None and vars(module).get(NAME) is self.ours:
            setattr(module, NAME, self.original)
        self.original = self.ours = None
        self.count = 0

    def renew(self) -> None:
        """In a forked child, which packs nothing and may find the lock taken."""
        self.restore()
        self.lock = threading.Lock()
        self.waiting = _Waiting()


packing = Packing()
os.register_at_fork(after_in_child=packing.renew)
