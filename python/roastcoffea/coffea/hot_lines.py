# SPDX-License-Identifier: BSD-3-Clause
"""Lines of user code in which the attempts of this machine are.

A thread in C samples them (python/ext/probe/hot_lines.c). A process of a pool notes its
rows in the spool, once a second and when its attempts have ended. On Dask the profile
of the cluster is read instead (dask/profile.py).
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import functools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import _probe
from ..dask.profile import HotLine, is_users, line_of
from ..dask.scheduler_pages import plain
from .work_function import note_line

FILE = "hot_lines"  # in a spool: rows as a line of JSON
MOST_LINES = 100
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

Row = list[Any]  # file, line, function, seconds in it and what it calls, alone
Target = tuple[bytes, int, tuple[str, ...]]  # run id, client, spools

# Receivers of rows in this process, by run id.
receivers: dict[bytes, Callable[[list[Row]], None]] = {}

_own: set[str] = set()  # installed packages of the analyses in this process


@functools.cache
def _is_users(file: str) -> bool:
    return not file.startswith(PACKAGE) and is_users(file, _own)


def begin(target: Target, own: Iterable[str], caller: Any) -> None:
    """An attempt begins in this thread, called by a frame."""
    if not _own.issuperset(own):
        _own.update(own)
        _is_users.cache_clear()
    if _probe.hot_lines_begin(target, caller):
        _stop_with_process()
        with contextlib.suppress(RuntimeError):  # no more threads: no samples
            _thread.start_new_thread(_probe.hot_lines_sample, (_is_users, deliver))


@functools.cache
def _stop_with_process() -> None:
    """End the thread before the interpreter, and send its last rows."""
    atexit.register(_probe.hot_lines_stop)
    pool = sys.modules.get("multiprocessing.util")  # its processes have no atexit
    if pool is not None:
        pool.Finalize(None, _probe.hot_lines_stop, exitpriority=100)


def _in_child() -> None:
    _probe.hot_lines_forget()
    _stop_with_process.cache_clear()  # a process of a pool has no finalizers yet


os.register_at_fork(after_in_child=_in_child)


def deliver(rows: Iterable[tuple[Any, ...]]) -> None:
    """Send rows that were sampled to the collectors of their runs."""
    found: dict[Target, list[Row]] = {}
    for target, *row in rows:
        found.setdefault(target, []).append(row)
    for (run_id, client, spools), own in found.items():
        receive = receivers.get(run_id)
        if client != _probe.process_id():
            for spool in spools:
                note_line(spool, FILE, json.dumps(own) + "\n")
        elif receive is not None:
            receive(own)


def flush() -> None:
    """Send what was sampled in this process since the last time."""
    deliver(_probe.hot_lines_take())


def read(spool: str) -> Iterator[Row]:
    """The rows of all processes of a pool; ValueError at a line that is cut."""
    path = os.path.join(spool, FILE)
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        for line in file:
            yield from json.loads(line)


class HotLines:
    """The rows of a run, added up."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.sums: dict[tuple[str, int, str], list[float]] = {}

    def add(self, rows: Iterable[Row]) -> None:
        with self.lock:
            for file, line, function, seconds, alone in rows:
                sums = self.sums.setdefault((file, line, function), [0.0, 0.0])
                sums[0] += seconds
                sums[1] += alone

    def hottest(self) -> list[HotLine]:
        """Those with the most seconds, and the text of the line where it is known."""
        with self.lock:
            hottest = sorted(self.sums.items(), key=lambda item: (-item[1][0], item[0]))
        return [
            HotLine(
                plain(place[0]),
                place[1],
                plain(place[2]),
                line_of(place) or None,
                *sums,
            )
            for place, sums in hottest[:MOST_LINES]
        ]
