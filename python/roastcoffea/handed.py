# SPDX-License-Identifier: BSD-3-Clause
"""Chunk records that users hand over: which of them are new.

A dict made of one of our records has that record's identity and is the same record. One
made by hand has none: when a list is handed over again, an equal dict is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea import _probe

Record = Mapping[str, Any]


class HandOver:
    """What was handed to a run; ``made`` are the dicts that were new."""

    def __init__(self, core: Any) -> None:
        self.made: list[dict[str, Any]] = []
        self.before: set[str] = set()
        self._core = core
        self._known: set[Any] = set()
        self._read = -1

    def begin(self, may_repeat: bool) -> None:
        """A call in which records are handed over."""
        self.before = {repr(record) for record in self.made} if may_repeat else set()

    def frame(self, record: Any) -> bytes | None:
        """The frame of a record, None if it is known. TypeError for something else."""
        frame = record if isinstance(record, bytes) else getattr(record, "frame", None)
        if isinstance(frame, bytes):
            return frame
        if not isinstance(record, Mapping):
            raise TypeError(f"a chunk record is a mapping, not {type(record).__name__}")
        if self._is_known(record):
            return None
        frame = _probe.frame_of(record, len(self.made) + 1)
        self.made.append(dict(record))
        return frame

    def _is_known(self, record: Record) -> bool:
        process, number = _identity(record)
        if process:
            identities = self._identities()
            known = (process, number) in identities
            identities.add((process, number))
            return known
        if isinstance(number, int) and 0 < number <= len(self.made):
            return self.made[number - 1].items() <= record.items()  # ours, given back
        return bool(self.before) and repr(dict(record)) in self.before

    def _identities(self) -> set[Any]:
        """Of all records; read again only when others than these dicts have come."""
        ended = self._core.progress()
        others = ended["done"] + ended["failed"] - len(self.made)
        if others != self._read:
            frames = b"".join(row[0] for row in self._core.chunks())
            records = (*_probe.read_frames(frames), *self.made)
            self._known = {_identity(record) for record in records}
            self._read = others
        return self._known


def _identity(record: Record) -> tuple[Any, Any]:
    """Which process made it and as which; (None, None) for one made by hand."""
    return record.get("process_id"), record.get("sequence")
