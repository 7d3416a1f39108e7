# SPDX-License-Identifier: BSD-3-Clause
"""The switch of a decorated process(): an attribute, on while a collector is entered.

Several collectors may hold the same processor, from several threads: the last one
restores the attribute. ``False``, set by the user, is never changed.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from types import MethodType
from typing import Any

from .guard import ForkSafeLock

FLAG = "_roastcoffea_collect_metrics"
_ABSENT = object()

_lock = ForkSafeLock()
_held: dict[int, _Hold] = {}


class _Hold:
    """The original value of one object's switch, and how many hold it on."""

    def __init__(self, owner: Any, before: Any) -> None:
        self.owner = owner  # keeps the object, and so its id, alive
        self.before = before
        self.count = 0
        self.pauses = 0

    def set(self) -> None:
        self.owner.__dict__[FLAG] = self.pauses == 0


def owner_of(processor: Any) -> Any:
    """The object that has the switch of ``processor``."""
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
    """Switch on; False if the user has switched it off, or it cannot be set."""
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
    """Switched off, for calls of process() that are no chunks."""
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
    """Undo one :func:`hold`."""
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
