# SPDX-License-Identifier: BSD-3-Clause
"""Hooks on entry points of coffea and uproot, in place while a run has chunks.

Only names that are looked up at each use are replaced, so that removing a hook is
complete; the identical original is restored. The hooks themselves are C. docs/hooks.md
lists every name and its purpose.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import threading
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from .. import _probe
from .hook_list import (
    CLASS,
    METHOD,
    NUMBER,
    OF_PARQUET,
    OF_ROOT,
    PARQUET,
    PLACES,
    PROPERTY,
    Place,
)
from .packing import packing

# Attributes that are not called like a plain function.
SPECIAL = (staticmethod, classmethod, property)
SPECIAL_OF = {CLASS: classmethod, PROPERTY: property}
CODECS = _probe.codecs()
MOST_PLACED = 10  # times in a process that is not notified when the run ends

# While one of these is not empty, code in this process will call ``clear``.
clearers: list[Collection[Any]] = []


class Hook(NamedTuple):
    """A hook that can be put in place."""

    owner: Any
    attribute: str
    original: Any
    hook: Any


def find(name: str, owner: Any, attribute: str, binding: int) -> Hook | None:
    """The hook on an attribute; None if this version of coffea or uproot lacks it."""
    try:
        hook = _probe.hook(NUMBER[name], binding, vars(owner)[attribute])
    except Exception:  # missing, or of another kind
        return None
    original = hook.original
    kind = next((kind for kind in SPECIAL if isinstance(original, kind)), None)
    if kind is not SPECIAL_OF.get(binding):
        return None
    return Hook(owner, attribute, original, hook)


def owner_of(place: Place) -> Any:
    """The module or class of a place, or None."""
    owner: Any = sys.modules.get(place.module)
    for name in filter(None, place.owner.split(".")):
        owner = getattr(owner, name, None)
    return owner


def sources() -> list[Any]:
    """All classes of uproot sources, including those of users."""
    base = getattr(sys.modules.get("uproot.source.chunk"), "Source", None)
    found = [base] if isinstance(base, type) else []
    for kind in found:  # the list grows in the loop
        found += kind.__subclasses__()
    return found


class Hooks:
    """The hooks of this process: found once, in place while an attempt uses them.

    Changing a class invalidates Python's caches of it, after a thousand times in Python
    3.13 for ever. So hooks stay in place between chunks until the run ends. Processes
    of a pool are not notified of that: there they are placed and removed a few times,
    then stay."""

    def __init__(self, cleared_by: Sequence[Collection[Any]] = clearers) -> None:
        self.lock = threading.Lock()
        self.cleared_by = cleared_by
        self.users: set[object] = set()
        self.in_place = False
        self.times_placed = 0
        self.found: list[Hook] | None = None
        self.missing = 0
        self.with_parquet = False
        self.sources: list[Any] = []

    def find_all(self) -> list[Hook]:
        """Find all hooks, and note the missing ones."""
        self.with_parquet = PARQUET in sys.modules
        self.sources = sources()
        places = [
            (place.name, owner_of(place), place.attribute, place.binding)
            for place in PLACES
            if place.module != PARQUET or self.with_parquet
        ]
        for kind in self.sources:
            places += [("source", kind, name, METHOD) for name in ("chunk", "chunks")]
        needed = {"source", *(name for name, *_ in places)}
        found = []
        for place in places:
            hook = find(*place)
            if hook is not None:
                found.append(hook)
                needed.discard(place[0])
        self.missing = sum(1 << NUMBER[name] for name in needed)
        executor = getattr(
            sys.modules.get("uproot.source.futures"), "TrivialExecutor", None
        )
        _probe.ladder_setup(executor, describe_parquet)
        return found

    def is_current(self) -> bool:
        """Whether the hooks that were found are still all that can be found."""
        if not self.found:
            return self.found is not None  # given up
        return (
            self.with_parquet == (PARQUET in sys.modules)
            and self.sources == sources()
            and all(
                vars(owner).get(attribute) is (hook if self.in_place else original)
                for owner, attribute, original, hook in self.found
            )
        )

    def arm(self, user: object) -> int:
        """Put the hooks in place for ``user`` too; the bits of missing hooks."""
        with self.lock:
            if _probe.ladder_is_heavy():
                self.give_up()
            if not self.users:
                self.put()
            self.users.add(user)
            return self.missing

    def disarm(self, user: object) -> None:
        """``user`` does not need them any more."""
        with self.lock:
            self.users.discard(user)
            stay = any(self.cleared_by) or self.times_placed >= MOST_PLACED
            if not self.users and not stay:
                self.take()

    def clear(self) -> None:
        """Remove the hooks, whatever their users."""
        with self.lock:
            self.users.clear()
            self.take()

    def give_up(self) -> None:
        """Remove them for good: they cost too much here, or do not work."""
        self.take()
        self.found = []
        self.missing = 1 << NUMBER["cost"]

    def put(self) -> None:
        """Put all in place, or none if that fails."""
        try:
            if self.in_place and self.is_current():
                return
            self.take()
            if not self.is_current():
                self.found = self.find_all()
            self.times_placed += 1
            self.in_place = True
            for owner, attribute, _, hook in self.found or ():
                setattr(owner, attribute, hook)
            if self.found:
                gc.callbacks.append(_probe.gc_callback)
        except Exception:
            self.give_up()
        except BaseException:  # Ctrl-C
            self.take()
            raise

    def take(self) -> None:
        self.in_place = False
        for owner, attribute, original, hook in reversed(self.found or ()):
            if vars(owner).get(attribute) is hook:
                setattr(owner, attribute, original)
        if _probe.gc_callback in gc.callbacks:
            gc.callbacks.remove(_probe.gc_callback)


def describe_parquet(factory: Any) -> tuple[dict[str, tuple[int, int]], int, int, int]:
    """({column: (bytes, uncompressed)}, entries, codec, bytes of the footer)."""
    metadata = factory._mapping._file_handle.metadata
    columns: dict[str, tuple[int, int]] = {}
    codec = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema.partition(".")[0]
            packed, unpacked = columns.get(name, (0, 0))
            columns[name] = (
                packed + column.total_compressed_size,
                unpacked + column.total_uncompressed_size,
            )
            codec = CODECS.get(column.compression.lower(), 0)
    end_bytes = 8  # after the footer: its length and a magic number
    return columns, metadata.num_rows, codec, metadata.serialized_size + end_bytes


_hooks = Hooks()


def arm(user: object, args: tuple[Any, ...], packs: bool) -> None:
    """Measure inside the attempt of this thread until ``user`` disarms; ``args`` are
    those of coffea's work function."""
    unseen = 0 if packing.is_possible() or not packs else 1 << NUMBER["compress"]
    is_parquet = "parquet" in args[:1]  # its format
    if is_parquet:
        with contextlib.suppress(Exception):
            importlib.import_module(PARQUET)  # coffea imports it next
    missing = _hooks.arm(user) & ~(OF_ROOT if is_parquet else OF_PARQUET)
    _probe.ladder_arm(missing | unseen)


def disarm(user: object) -> None:
    """The attempt has ended."""
    _hooks.disarm(user)


def clear() -> None:
    """All attempts have ended, even those that a Ctrl-C kept from disarming."""
    _hooks.clear()


def _in_child() -> None:
    """A forked child runs no chunks of its parent, and is not notified of the end."""
    global _hooks
    _hooks.take()
    _hooks = Hooks(())


os.register_at_fork(after_in_child=_in_child)
