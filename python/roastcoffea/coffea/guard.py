# SPDX-License-Identifier: BSD-3-Clause
"""Guards around steps of the monitor: errors are counted and not raised, locks survive
a fork.

Only the user's own call may raise. An exception that is not an ``Exception`` (Ctrl-C)
always belongs to the user.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _probe

_T = TypeVar("_T")


def guarded(where: str, step: Callable[..., _T], *args: Any) -> _T | None:
    """The result of a step; None if it raises."""
    try:
        return step(*args)
    except Exception as error:
        with contextlib.suppress(MemoryError):  # no memory to count it
            _probe.note_error(where, error)
        return None


class ForkSafeLock:
    """A lock that is free in a forked child: another thread may have held it."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()
