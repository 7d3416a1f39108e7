# SPDX-License-Identifier: BSD-3-Clause
"""The live line of a run on the terminal, with ``progress=True``."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from roastcoffea import _core

if TYPE_CHECKING:
    from roastcoffea.run_recorder import RunRecorder


SHOWN_AFTER_S = 1.0  # and every second; what is quick needs no line


def shown(pieces: Iterable[str], name: str) -> Iterator[str]:
    """The pieces of a file; a terminal shows how much there is, if it takes long."""
    begun_s = shown_s = time.monotonic()
    size, stream = 0, sys.stderr
    for piece in pieces:
        yield piece
        size += len(piece)
        now_s = time.monotonic()
        if now_s - shown_s > SHOWN_AFTER_S and stream is not None and stream.isatty():
            shown_s = now_s
            stream.write(f"\rroastcoffea: {name}, {size / 1e6:.0f} MB written{CLEAR}")
            stream.flush()
    if shown_s > begun_s:
        stream.write("\n")


CLEAR = "\033[K"  # the rest of the line


class LiveLine:
    """Writes one line per second to standard error, over the one before."""

    def __init__(self, stream: TextIO | None = None, every_s: float = 1.0) -> None:
        self.stream = stream
        self.every_s = every_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, run: RunRecorder) -> None:
        self._stop.clear()
        self._thread = None
        thread = threading.Thread(
            target=self._follow, args=(run,), name="roastcoffea-line", daemon=True
        )
        thread.start()
        self._thread = thread

    def stop(self) -> None:
        """Write the line for the last time."""
        self._stop.set()
        if self._thread:
            self._thread.join(timeout=5)

    def _follow(self, run: RunRecorder) -> None:
        stream = self.stream or sys.stderr
        try:
            while not self._stop.wait(self.every_s):
                self._write(stream, run, "\r" if stream.isatty() else "\n")
            self._write(stream, run, "\n")
        except Exception as error:  # the stream is gone, most likely: so is the line
            run.note_error("live line", error)

    def _write(self, stream: TextIO, run: RunRecorder, end: str) -> None:
        seconds = (time.monotonic_ns() - run.start_mono_ns) / 1e9
        line, clear = _core.live_line(run.core, seconds), ""
        if stream.isatty():  # one that wraps is not written over
            line, clear = line[: shutil.get_terminal_size((120, 24)).columns - 1], CLEAR
        stream.write(line + clear + end)
        stream.flush()
