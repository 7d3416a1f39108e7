# SPDX-License-Identifier: BSD-3-Clause
"""The switch that a decorated process() looks at, held on while a collector is entered.

Several collectors may hold the same processor, from several threads: it goes back to
what it was when the last one lets go. A user's own ``False`` is left alone.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from types import MethodType
from typing import Any

FLAG = "_roastcoffea_collect_metrics"
_ABSENT = object()

_lock = threading.Lock()
_held: dict[int, _Hold] = {}


def _renew_lock() -> None:
    """In a forked child: another thread may have held it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class _Hold:
    """What the switch of one object was, and how many hold it on."""

    def __init__(self, owner: Any, before: Any) -> None:
        self.owner = owner  # keeps the object, and so its id, alive
        self.before = before
        self.count = 0
        self.pauses = 0

    def set(self) -> None:
        self.owner.__dict__[FLAG] = self.pauses == 0


def owner_of(processor: Any) -> Any:
    """The object whose switch a call of ``processor`` looks at."""
    while isinstance(processor, functools.partial):
        processor = processor.func
    return processor.__self__ if isinstance(processor, MethodType) else processor


def is_off(processor: Any) -> bool:
    """Whether the user has switched it off."""
    try:
        return getattr(owner_of(processor), FLAG, None) is False
    except Exception:  # a __getattr__ of the user's may raise anything
        return True


def hold(processor: Any) -> bool:
    """Switch on; False when it is off by the user's will or cannot be set."""
    owner = owner_of(processor)
    space = getattr(owner, "__dict__", None)
    if not isinstance(space, dict):
        return False
    with _lock:
        if id(owner) not in _held:
            if is_off(processor):
                return False
            _held[id(owner)] = _Hold(owner, space.get(FLAG, _ABSENT))
        entry = _held[id(owner)]
        entry.count += 1
        entry.set()
    return True


@contextlib.contextmanager
def paused(processor: Any) -> Iterator[None]:
    """Off for a while, as for calls of process() that are no chunks."""
    with _lock:
        entry = _held.get(id(owner_of(processor)))
        if entry:
            entry.pauses += 1
            entry.set()
    try:
        yield
    finally:
        if entry:
            with _lock:
                entry.pauses -= 1
                entry.set()


def release(processor: Any) -> None:
    """Let go of what :func:`hold` switched on."""
    owner = owner_of(processor)
    with _lock:
        entry = _held.get(id(owner))
        if entry is None:
            return
        entry.count -= 1
        if entry.count:
            return
        del _held[id(owner)]
        if entry.before is _ABSENT:
            owner.__dict__.pop(FLAG, None)
        else:
            owner.__dict__[FLAG] = entry.before
