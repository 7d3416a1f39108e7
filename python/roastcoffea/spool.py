# SPDX-License-Identifier: BSD-3-Clause
"""Folders through which processes of this machine pass frames to their collector.

A collector holds a lock on its folder while it lives. A folder with a free lock belongs
to a collector that was killed: the next one removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path

from roastcoffea import _core
from roastcoffea.coffea import hot_lines
from roastcoffea.coffea.work_function import FILE_READS

PREFIX = "roast-spool-"
TRIES = 5
_locks: dict[str, int] = {}


def make() -> str:
    """A new folder that only this user can read, locked by this process."""
    _remove_abandoned()
    for _ in range(TRIES):
        folder = _make_locked()
        if folder is not None:
            return folder
    raise OSError(f"no folder in {tempfile.gettempdir()} could be locked")


def remove(folder: str | None) -> None:
    """Remove a folder that this process made, with the frames in it."""
    descriptor = _locks.pop(folder, None) if folder else None
    if folder and descriptor is not None:
        _empty(folder)
        _close(descriptor)


def _empty(folder: str) -> None:
    for name in (FILE_READS, hot_lines.FILE):
        with contextlib.suppress(OSError):  # mostly there is none
            os.unlink(os.path.join(folder, name))
    _core.remove_spool(folder)


def _make_locked() -> str | None:
    """None if another collector removed it as abandoned before it was locked."""
    folder = tempfile.mkdtemp(prefix=PREFIX)
    try:
        descriptor = _lock(folder)
    except OSError:
        _empty(folder)
        return None
    if not os.path.isdir(folder):
        os.close(descriptor)
        return None
    _locks[folder] = descriptor
    return folder


def _lock(folder: str) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # a program may have closed all descriptors
        os.close(descriptor)


def _forget_locks() -> None:
    """In a forked child, which would hold them longer than the collector."""
    for descriptor in _locks.values():
        _close(descriptor)
    _locks.clear()


os.register_at_fork(after_in_child=_forget_locks)


def _remove_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        try:
            if folder.stat().st_uid != os.getuid() or str(folder) in _locks:
                continue
            descriptor = _lock(str(folder))
        except OSError:  # in use, of another user, or removed meanwhile
            continue
        _empty(str(folder))
        os.close(descriptor)
