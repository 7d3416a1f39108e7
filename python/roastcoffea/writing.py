# SPDX-License-Identifier: BSD-3-Clause
"""``output_dir``: a block on disk, while it lasts and afterwards.

    DIR/NAME.roast-live   from enter on; written by a thread in C
    DIR/NAME/             at exit: the measurement, with run.roast in it

The live file goes when the directory is there, whole and synced. Where something
cannot be written the analysis runs on: one warning, one counted error, and whatever was
written stays.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from roastcoffea import _core
from roastcoffea.export.measurements import names_of, save_run
from roastcoffea.run import Run

LIVE = _core.LIVE_SUFFIX
MOST_NAMES = 1000


def refuse_taken(output_dir: Any, name: str) -> None:
    """FileExistsError for a name that a measurement before this one has.

    What a killed run left is no reason: a batch system starts its command again."""
    place = Path(output_dir) / name
    if os.path.lexists(place):
        raise FileExistsError(
            f"{place} exists: choose another measurement_name, or leave it out "
            "and the run is called after the time"
        )


def _names_beside(name: str) -> Iterator[str]:
    """The name, and others for when a live file of a killed run has it."""
    yield name
    for number in range(2, MOST_NAMES):
        yield f"{name}-{number}"


class Writing:
    """The files of one block."""

    def __init__(self, output_dir: Any, name: str | None) -> None:
        self.folder = Path(output_dir)
        self.names: Iterable[str] = names_of(name)
        self.live: Path | None = None
        self.taken: Path | None = None
        self.error: Exception | None = None
        self._chosen = name
        self._told = False

    def begin(self, core: Any) -> None:
        """Start the live file, before anything is told to the run."""
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise NotADirectoryError("it is not a directory")
            self.folder.mkdir(parents=True, exist_ok=True)
            chosen = self._chosen
            for name in self.names if chosen is None else _names_beside(chosen):
                if self._opens(core, name):
                    others = self.names if chosen is None else []
                    self.names = itertools.chain([name], others)
                    return
        except Exception as error:  # told when the run can count it
            self.error = error

    def _opens(self, core: Any, name: str) -> bool:
        """Whether the run is written under this name now; else another is to be
        tried."""
        place, live = self.folder / name, self.folder / f"{name}{LIVE}"
        if os.path.lexists(place):
            if name != self._chosen:
                return False
            self.error = FileExistsError(f"{place} exists: the run stays in {live}")
        try:
            core.live_open(live)
        except OSError:
            if not os.path.lexists(live):
                raise
            if name == self._chosen:
                self.taken, self.error = live, None
            return False  # another process was quicker, or left it
        self.live = live
        return True

    def tell_begun(self, run: Run) -> None:
        """Say what is not as the user wanted it, now that there is a run."""
        if self.error:
            self.tell(run, self.error)
        elif self.taken and self.live:
            name = self.live.name.removesuffix(LIVE)
            _warn(f"found {self.taken}, of another run: this one is called {name}")

    def tell(self, run: Run, error: Exception, where: str = "") -> None:
        """Count what could not be written, and warn, once."""
        if self._told:
            return
        self._told = True
        run.note_error("output_dir", error)
        _warn(f"could not write to {self.folder}: {error}{where}", 5)

    def end(self, run: Run) -> Path | None:
        """Write the measurement; its directory, or None."""
        try:
            run.look_at_live()
            written = save_run(run, self.folder, self.names)
        except Exception as error:  # a full disk must not cost the user their result
            self.tell(run, error, f"; it is in {self.live}" if self.live else "")
            written = None
        if self.live is not None:
            run.guarded("live file", run.core.live_close, written is not None)
        return written


def _warn(text: str, level: int = 4) -> None:
    with contextlib.suppress(UserWarning):  # where warnings are errors
        warnings.warn(f"roastcoffea {text}", stacklevel=level)
