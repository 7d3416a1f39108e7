# SPDX-License-Identifier: BSD-3-Clause
"""A run: what one block measured, and what it means.

The same object whether its block has just ended or it was opened from a file years
later: the facts are in C columns (``core``), and this gives them out as metrics, pages,
tables, records and files. It lives on after its collector is used again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roastcoffea import _core, provenance
from roastcoffea.coffea.fileset import sign
from roastcoffea.export.decoding import decode
from roastcoffea.handed import Handed
from roastcoffea.metrics import Metrics, chunk_dicts

NOT_STARTED = "Timing not available: enter the collector's block first"
NOT_ENDED = "Cannot save measurement before context manager completes"
NOT_TRACKED = "off"  # how workers were sampled


class TableOf:
    """A table of the run as columns: ``numpy.asarray(run.chunks["num_events"])``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, run: Run | None, owner: type) -> Any:
        return self if run is None else run.table(self.name)


class Run(Handed):
    """Everything that was measured between entering a block and leaving it."""

    chunks = TableOf()
    tasks = TableOf()
    sections = TableOf()
    branches = TableOf()
    files = TableOf()
    datasets = TableOf()
    workers = TableOf()
    endpoints = TableOf()
    failures = TableOf()
    findings = TableOf()
    losses = TableOf()
    chunk_sections = TableOf()
    chunk_branches = TableOf()
    activities = TableOf()
    hot_lines = TableOf()
    timeline = TableOf()

    def __init__(self, core: Any = None, path: Path | None = None) -> None:
        super().__init__(core)
        self.path = path  # of the file it was opened from
        self.measurement_path: Path | None = None
        self._chunks: list[dict[str, Any]] | None = None
        self._metrics: Metrics | None = None
        self._tables: dict[str, Any] = {}

    def _changed(self) -> None:
        with self._lock:
            self._chunks = None
            self._metrics = None
            self._tables.clear()

    def _sync(self) -> None:
        """Take what has come since somebody looked."""
        self.core.sync()
        self.look_at_live()
        if self.t_end is None and not self.is_opened:
            self._changed()

    @property
    def run(self) -> Run:
        """Itself, for code that was written for a collector."""
        return self

    # ---- when, and how it ended ----------------------------------------------------

    @property
    def t_start(self) -> float:
        """When the block began, in seconds since 1970."""
        start_ns: int = self.core.span()[0]
        return start_ns / 1e9

    @property
    def t_end(self) -> float | None:
        """When it ended; None while it goes on, or when nobody saw its end."""
        end_ns: int = self.core.span()[1]
        return end_ns / 1e9 if end_ns else None

    @property
    def partial(self) -> bool:
        """Whether something is missing: it goes on, failed, or was cut short."""
        opened = self.core.info() or {}
        unfinished = self.t_end is None or self.failure is not None
        return unfinished or bool(opened.get("partial"))

    @property
    def info(self) -> dict[str, Any]:
        """Where it comes from: id, path, live, ended, partial, format, writer ..."""
        ended = self.t_end is not None
        here = {"live": not ended, "ended": ended}
        found = {"id": self.id, "path": self.path} | (self.core.info() or here)
        return found | {"partial": self.partial}

    @property
    def provenance(self) -> dict[str, str]:
        """Versions, command, host, settings, code: where the numbers come from."""
        self._complete()
        facts: dict[str, str] = self.core.notes("provenance")
        return facts

    def _complete(self) -> None:
        """Find out what was left for later."""
        if not self.is_opened and "git_dirty" not in self.core.notes("provenance"):
            facts = provenance.at_end()
            provenance.tell(self.core, {"git_dirty": "not known"} | facts)

    # ---- numbers -------------------------------------------------------------------

    @property
    def metrics(self) -> Metrics:
        """All metrics, under all their names."""
        with self._lock:
            self._sync()
            if self._metrics is None:
                self._metrics = Metrics(self)
            return self._metrics

    def get_metrics(self) -> dict[str, Any]:
        """All metrics, under all their names."""
        return self.metrics

    @property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """One dict per chunk record, by start; built on first use."""
        with self._lock:
            self._sync()
            if self._chunks is None:
                self._chunks = chunk_dicts(self.core.chunks(), self.made_records)
                self.tell_damage()
            return self._chunks

    def chunk_parts(self, most: int = 1000) -> Iterator[list[dict[str, Any]]]:
        """The same in parts; none is kept unless all were made before."""
        with self._lock:
            self._sync()
            made = self._chunks
            rows = self.core.chunks() if made is None else []
        if made is not None:
            yield made
        for start in range(0, len(rows), most):
            yield chunk_dicts(rows[start : start + most], self.made_records)

    def tracking(self) -> dict[str, Any]:
        """What is known of workers; with what a user's backend added."""
        sampled: dict[str, Any] = self.core.tracking()
        return sampled | self.foreign_tracking

    @property
    def tracking_data(self) -> dict[str, Any] | None:
        """What was sampled of workers; None where nobody was to sample."""
        tracked = self.core.note("provenance", "worker_tracking")
        return None if tracked == NOT_TRACKED else self.tracking()

    def table(self, name: str) -> Any:
        """A table by its name, those that are no attributes too."""
        with self._lock:
            self._sync()
            if name not in self._tables:
                self._tables[name] = self.core.table(name)
                self.tell_damage()
            return self._tables[name]

    def samples(self, series: str) -> Any:
        """One series of all workers as columns: worker, time, value."""
        return self.core.samples(series)

    def to_pandas(self) -> Any:
        """The chunks as a pandas.DataFrame."""
        return self.chunks.to_pandas()

    def failed_fileset(self) -> dict[str, Any]:
        """What to give to a Runner to run what failed again; {} if nothing did.

        When a call of the Runner gave no output (it raised, or the process was killed)
        what its chunks had made is gone: then it is everything that was to be
        processed.

        URLs that were signed are so again in the process that was given them.
        """
        with self._lock:
            self._sync()
        found = decode(json.loads(self.core.failed_fileset()))
        self.tell_damage()
        return sign(found, self._signed)

    # ---- pages ---------------------------------------------------------------------

    def print_summary(self) -> None:
        """Print what was measured."""
        print(self.page("text"))

    def page(self, kind: str) -> str:
        """The run as text, as its first lines, or as a card for notebooks."""
        if self.why_off:
            return f"<div>{self.why_off}</div>" if kind == "card" else self.why_off
        with self._lock:
            self._sync()
        text: str = self.core.page(kind)
        return text

    def __str__(self) -> str:
        return self.page("headline")

    def __repr__(self) -> str:
        state = "partial" if self.partial else "finished"
        known = [(self.id or "")[:8], self.processor_name, state]
        return f"<roastcoffea.Run {', '.join(filter(None, known))}>"

    def _repr_html_(self) -> str:
        return self.page("card")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython on a terminal, where there are no cards."""
        printer.text(str(self))

    # ---- files ---------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write the run to a file; also while it goes on, and then as far as it is.

        FileExistsError where there is a file, unless it is to be replaced.
        """
        target = Path(path)
        if not overwrite and os.path.lexists(target):
            raise FileExistsError(f"{target} exists: overwrite=True replaces it")
        with self._lock:
            self._sync()
        self.write_lists()
        self._complete()
        self.core.save(target, overwrite)
        return target

    def save_measurement(
        self,
        output_dir: str | os.PathLike[str],
        measurement_name: str | None = None,
        config: Any = None,
    ) -> Path:
        """Write a measurement directory with a run file in it; its path."""
        from roastcoffea.export.measurements import save_run

        if self.t_end is None and not self.is_opened:
            raise RuntimeError(NOT_ENDED)
        return save_run(self, output_dir, measurement_name, config)


def open_run(path: str | os.PathLike[str]) -> Run:
    """A run from a ``.roast`` or ``.roast-live`` file or a measurement directory.

    Of a folder of runs, as ``monitor("DIR")`` writes them, the one that began last.
    What is large is read when it is asked for. Directories without a run file, of
    roastcoffea 0.1.2 too, give what their JSON holds.
    """
    if not os.fspath(path):
        raise ValueError("open_run: the path is empty")
    given = Path(path)
    if given.is_dir():
        found = _core.find_run(given)
        if found is not None:
            place = Path(found[0])
            inside = place.parent if place.name == _core.RUN_NAME else place
            return Run(found[1], inside)
        if (given / "metrics.json").exists():
            return Run(_core.import_measurement(given), given)
        raise FileNotFoundError(_missing(given))
    if not given.exists():
        raise FileNotFoundError(_missing(given))
    return Run(_core.open_run(given), given)


def _missing(path: Path) -> str:
    finished = path.with_suffix("")
    if path.is_dir():
        return (
            f"{path} holds no run: neither {_core.RUN_NAME} nor metrics.json is in it"
        )
    if path.suffix == _core.LIVE_SUFFIX and finished.is_dir():
        return f"{path} is gone, its run has ended: open {finished}"
    return f"No such run: {path}"
