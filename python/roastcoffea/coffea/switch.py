# SPDX-License-Identifier: BSD-3-Clause
"""The switch of a decorated process(): an attribute, on while a collector is entered.

Several collectors may hold the same processor, from several threads: the last one
restores the attribute. ``False``, set by the user, is never changed.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import Any

from .guard import ForkSafeLock

FLAG = "_roastcoffea_collect_metrics"
_ABSENT = object()

_lock = ForkSafeLock()
_held: dict[int, _Hold] = {}


class _Hold:
    """The original value of one object's switch, and who holds it on."""

    def __init__(self, owner: Any, before: Any) -> None:
        self.owner = owner  # keeps the object, and so its id, alive
        self.before = before
        self.holders: set[int] = set()
        self.pausers: set[int] = set()

    def set(self) -> None:
        self.owner.__dict__[FLAG] = not self.pausers


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


def hold(processor: Any, holder: object) -> bool:
    """Switch on until ``holder`` releases it; False if the user has switched it off, or
    it cannot be set."""
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
        entry.holders.add(id(holder))
        entry.set()
    return True


def pause(processor: Any, holder: object, on: bool = False) -> None:
    """Switch off for calls of process() that are no chunks; ``on``: they are over."""
    with _lock:
        entry = _held.get(id(owner_of(processor)))
        if entry and (id(holder) in entry.pausers) is on:
            entry.pausers ^= {id(holder)}
            entry.set()


def release(processor: Any, holder: object) -> None:
    """Undo one :func:`hold`, once."""
    owner = owner_of(processor)
    with _lock:
        entry = _held.get(id(owner))
        if entry is None or id(holder) not in entry.holders:
            return
        if entry.holders == {id(holder)}:  # the last one
            if entry.before is _ABSENT:
                owner.__dict__.pop(FLAG, None)
            else:
                owner.__dict__[FLAG] = entry.before
            del _held[id(owner)]
        entry.holders.discard(id(holder))
