# SPDX-License-Identifier: BSD-3-Clause
"""``output_dir``: the files of a block, while it lasts and afterwards.

    DIR/NAME.roast-live   from enter on; written by a thread in C
    DIR/NAME/             at exit: the measurement, with run.roast in it

The live file is removed when the directory is complete and synced. If something cannot
be written the analysis runs on: one warning, one counted error, and what was written
stays.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from roastcoffea import _core
from roastcoffea.export.measurements import names_of, remove_abandoned, save_run
from roastcoffea.run import Run
from roastcoffea.run_recorder import RunRecorder

LIVE = _core.LIVE_SUFFIX
MOST_NAMES = 1000


def refuse_taken(output_dir: Any, name: str) -> None:
    """FileExistsError for the name of an earlier measurement.

    The live file of a killed run is no reason: a batch system starts its command again.
    """
    place = Path(output_dir) / name
    if os.path.lexists(place):
        raise FileExistsError(
            f"{place} exists: choose another measurement_name, or leave it out "
            "and the run is called after the time"
        )


class OutputDir:
    """The files of one block."""

    def __init__(self, folder: Any, name: str | None) -> None:
        self.folder = Path(folder)
        self.names: Iterable[str] = names_of(name)
        self.live: Path | None = None
        self.taken: Path | None = None  # a live file of another run
        self.error: Exception | None = None
        self._chosen = name
        self._warned = False

    def open_live(self, core: _core.Run) -> None:
        """Start the live file, before anything is recorded."""
        chosen = self._chosen
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise NotADirectoryError("it is not a directory")
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_abandoned(self.folder)
            names = self.names
            if chosen is not None:  # a killed run may have left its live file
                numbered = (f"{chosen}-{n}" for n in range(2, MOST_NAMES))
                names = itertools.chain([chosen], numbered)
            for name in names:
                if self._opens(core, name):
                    others = self.names if chosen is None else []
                    self.names = itertools.chain([name], others)
                    return
        except Exception as error:  # warn_begun() reports it
            self.error = error

    def _opens(self, core: _core.Run, name: str) -> bool:
        """Open the live file under this name; False: try another name."""
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

    def warn_begun(self, recorder: RunRecorder) -> None:
        """Report what is not as the user wanted it, now that it can be counted."""
        if self.error:
            self._warn_once(recorder, self.error)
        elif self.taken and self.live:
            name = self.live.name.removesuffix(LIVE)
            _warn(f"found {self.taken}, of another run: this one is called {name}")

    def _warn_once(self, recorder: RunRecorder, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            recorder.note_error("output_dir", error)
            _warn(f"could not write to {self.folder}: {error}", 5)

    def save(self, run: Run, recorder: RunRecorder) -> Path | None:
        """Write the measurement; its directory, or None."""
        written, failed = None, None
        try:
            recorder.count_live_errors()
            written = save_run(run, self.folder, self.names, at_exit=True)
        except Exception as error:  # a full disk must not cost the user their result
            failed = error
            if not self._warned:
                recorder.note_error("output_dir", error)
        if self.live is not None:
            recorder.guarded("live file", run._core.live_close, written is not None)
        if failed and not self._warned:
            self._warned = True
            _warn(f"could not write to {self.folder}: {failed}{self._kept(run)}")
        return written

    def _kept(self, run: Run) -> str:
        """What the live file has of a run that could not be saved."""
        if self.live is None:
            return ""
        try:
            kept = _core.open_run(self.live).progress()["done"]
        except Exception as error:
            return f"; {self.live} cannot be read: {error}"
        made = run._core.progress()["done"]
        return f"; {kept} of {made} chunks are in {self.live}"


def _warn(text: str, level: int = 4) -> None:
    with contextlib.suppress(UserWarning):  # where warnings are errors
        warnings.warn(f"roastcoffea {text}", stacklevel=level)
