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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from roastcoffea.export.measurements import names_of, save_run
from roastcoffea.run import Run

LIVE = ".roast-live"


def refuse_taken(output_dir: Any, name: str) -> None:
    """FileExistsError for a name that a run before this one has."""
    for place in (Path(output_dir) / name, Path(output_dir) / f"{name}{LIVE}"):
        if os.path.lexists(place):
            raise FileExistsError(
                f"{place} exists: choose another measurement_name, or leave it out "
                "and the run is called after the time"
            )


class Writing:
    """The files of one block."""

    def __init__(self, output_dir: Any, name: str | None) -> None:
        self.folder = Path(output_dir)
        self.names: Iterable[str] = names_of(name)
        self.live: Path | None = None
        self.error: Exception | None = None
        self._is_named = name is not None
        self._told = False

    def begin(self, core: Any) -> None:
        """Start the live file, before anything is told to the run."""
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise NotADirectoryError("it is not a directory")
            self.folder.mkdir(parents=True, exist_ok=True)
            for name in self.names:
                if self._opens(core, name):
                    self.names = itertools.chain([name], self.names)
                    return
        except Exception as error:  # told when the run can count it
            self.error = error

    def _opens(self, core: Any, name: str) -> bool:
        """Whether the run is written under this name now; else another is to be
        tried. One that the user chose is the only one."""
        place, live = self.folder / name, self.folder / f"{name}{LIVE}"
        if os.path.lexists(place):
            if not self._is_named:
                return False
            self.error = FileExistsError(f"{place} exists: the run stays in {live}")
        try:
            core.live_open(live)
        except OSError:
            if self._is_named or not os.path.lexists(live):
                raise
            return False  # another process was quicker
        self.live = live
        return True

    def tell(self, run: Run, error: Exception) -> None:
        """Count what could not be written, and warn, once."""
        if self._told:
            return
        self._told = True
        run.note_error("output_dir", error)
        text = f"roastcoffea could not write to {self.folder}: {error}"
        with contextlib.suppress(UserWarning):  # where warnings are errors
            warnings.warn(text, stacklevel=4)

    def end(self, run: Run) -> Path | None:
        """Write the measurement; its directory, or None."""
        try:
            run.look_at_live()
            written = save_run(run, self.folder, self.names)
        except Exception as error:  # a full disk must not cost the user their result
            self.tell(run, error)
            written = None
        if self.live is not None:
            run.guarded("live file", run.core.live_close, written is not None)
        return written
