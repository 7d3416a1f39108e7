# SPDX-License-Identifier: BSD-3-Clause
"""A run: what one block measured, as metrics, tables, records, pages and files.

The same object whether its block has just ended or it was opened from a file years
later. The facts are in C; RunRecorder (run_recorder.py) writes them while the block
lasts, UserRecords (user_records.py) adds what the user passes, RunNotes (run_notes.py)
holds the texts.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from roastcoffea import _core, provenance
from roastcoffea.coffea import rerun
from roastcoffea.coffea.fileset import merged, read_text, sign
from roastcoffea.export.decoding import decode
from roastcoffea.metrics import Metrics, chunk_dicts
from roastcoffea.run_notes import RunNotes
from roastcoffea.run_recorder import NOT_TRACKED, RunRecorder
from roastcoffea.user_records import OUTPUT_KEY, UserRecords

NOT_STARTED = "Timing not available: enter the collector's block first"
NOT_ENDED = "Cannot save measurement before context manager completes"
OPENED = "this run was opened from a file: nothing can be added to it"


class TableOf:
    """A table of the run as columns: ``numpy.asarray(run.chunks["num_events"])``."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, run: Run | None, owner: type) -> Any:
        return self if run is None else run.table(self.name)


class Run:
    """Everything that was measured between entering a block and leaving it."""

    chunks = TableOf()
    tasks = TableOf()
    sections = TableOf()
    branches = TableOf()
    calls = TableOf()
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
    file_branches = TableOf()
    read_sizes = TableOf()
    hosts = TableOf()
    critical_path = TableOf()

    def __init__(
        self,
        core: _core.Run,
        path: Path | None = None,
        recorder: RunRecorder | None = None,
    ) -> None:
        self.path = path  # of the file it was opened from
        self._core = core
        self._recorder = recorder  # None: opened from a file
        self._notes = recorder.notes if recorder else RunNotes(core)
        self._lock = recorder.lock if recorder else threading.RLock()
        self._user_records = UserRecords(recorder) if recorder else None
        self._measurement_path: Path | None = None
        self._results: dict[str, Any] = {}  # computed once, until something changes
        self._results_of = 0  # recorder.changes
        self._warned_of_damage = False

    def _refresh(self) -> None:
        """Read what has arrived, and drop results that are out of date."""
        self._core.sync()
        recorder = self._recorder
        if recorder is None:
            return
        recorder.count_live_errors()
        recorder.guarded("records of calls", recorder.take_calls)
        if self.t_end is None or self._results_of != recorder.changes:
            self._results_of = recorder.changes
            self._results.clear()

    def _warn_of_damage(self) -> None:
        """Once, if parts of the file could not be read; parts are read when needed."""
        pieces = (self._core.info() or {}).get("damaged", 0)
        if pieces and not self._warned_of_damage:
            self._warned_of_damage = True
            warnings.warn(
                f"the file of this run is damaged: {pieces} pieces are left out"
                " (`roast check` names them)",
                stacklevel=4,
            )

    @property
    def run(self) -> Run:
        """Itself, for code that was written for a collector."""
        return self

    # ---- when, how it ended, where it comes from -----------------------------------

    @property
    def t_start(self) -> float:
        """When the block began, in seconds since 1970."""
        return self._core.span()[0] / 1e9

    @property
    def t_end(self) -> float | None:
        """When the block ended; None while it lasts, or if its end is not known."""
        end_ns = self._core.span()[1]
        return end_ns / 1e9 if end_ns else None

    @property
    def failure(self) -> str | None:
        """The exception that ended the block, or a call in it."""
        return self._notes.text("failure")

    @property
    def state(self) -> str:
        """finished, incomplete, failed, interrupted or unfinished: see
        ``get_metrics()["state"]``."""
        return str(self.get_metrics()["state"]["state"])

    @property
    def partial(self) -> bool:
        """Whether something is missing: the run goes on, failed, or was cut short."""
        opened = self._core.info() or {}
        unfinished = self.t_end is None or self.failure is not None
        interrupted = self._notes.text("partial") is not None
        return unfinished or interrupted or bool(opened.get("partial"))

    @property
    def id(self) -> str | None:
        """32 hexadecimal digits that no other run has."""
        return self._notes.text("id")

    @property
    def measurement_path(self) -> Path | None:
        """The directory that was written for ``output_dir``."""
        return self._measurement_path

    @property
    def info(self) -> dict[str, Any]:
        """Where it comes from: id, path, live, ended, partial, format, writer ..."""
        ended = self.t_end is not None
        here = {"live": not ended, "ended": ended}
        found = {"id": self.id, "path": self.path} | (self._core.info() or here)
        return found | {"partial": self.partial}

    @property
    def labels(self) -> dict[str, str]:
        """What the user wrote on the run."""
        return self._notes.labels

    @property
    def provenance(self) -> dict[str, str]:
        """Versions, command, host, settings, code: where the numbers come from."""
        if self._recorder and "git_dirty" not in self._core.notes("provenance"):
            facts = {"git_dirty": "not known"} | provenance.at_end()
            provenance.store(self._core, facts)
        return self._core.notes("provenance")

    # ---- what the user adds ----------------------------------------------------------

    def set_coffea_report(
        self, report: Any, custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Add coffea's report, ``(output, report)`` or an Ok/Err of it."""
        self._additions().set_report(report, custom_metrics)

    def extract_metrics_from_output(self, output: Any) -> Any:
        """Take our key out of an output, which is returned."""
        additions = self._additions()
        if isinstance(output, dict) and isinstance(output.get(OUTPUT_KEY), list):
            additions.add(output.pop(OUTPUT_KEY), may_repeat=True)
        return output

    def set_chunk_metrics(self, chunk_metrics: Iterable[Any]) -> None:
        """Add chunk records; those that are known already are not counted again."""
        self._additions().add(chunk_metrics or (), may_repeat=True)

    def record_chunk_metrics(self, chunk_data: Mapping[str, Any]) -> None:
        """Add one chunk record."""
        self._additions().add([chunk_data], may_repeat=False)

    def record_section_metrics(self, section_data: Mapping[str, Any]) -> None:
        """Add one section that was measured by other means."""
        self._additions().add_section(section_data)

    def _additions(self) -> UserRecords:
        if self._user_records is None:
            raise RuntimeError(OPENED)
        return self._user_records

    @property
    def custom_metrics(self) -> dict[str, Any]:
        """What came with :meth:`set_coffea_report`."""
        return self._notes.document("custom_metrics")

    @property
    def section_metrics(self) -> list[dict[str, Any]]:
        """What came with :meth:`record_section_metrics`."""
        return self._notes.list("sections").items

    # ---- numbers -------------------------------------------------------------------

    @property
    def metrics(self) -> Metrics:
        """All metrics, under all their names."""
        with self._lock:
            self._refresh()
            if "metrics" not in self._results:
                self._results["metrics"] = Metrics(self)
            found: Metrics = self._results["metrics"]
            return found

    def get_metrics(self) -> dict[str, Any]:
        """All metrics, under all their names; also while the run goes on."""
        return self.metrics

    @property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """A list with a dict for every chunk record, by start; built on first use."""
        with self._lock:
            self._refresh()
            if "chunk_metrics" not in self._results:
                self._results["chunk_metrics"] = list(self._chunk_dicts())
                self._warn_of_damage()
            found: list[dict[str, Any]] = self._results["chunk_metrics"]
            return found

    def _chunk_dicts(self) -> Iterator[dict[str, Any]]:
        """The same one by one, without keeping them."""
        return chunk_dicts(self._core.chunks(), self._notes.list("records").items)

    @property
    def tracking_data(self) -> dict[str, Any] | None:
        """What was sampled of workers; None if sampling was switched off."""
        tracked = self._core.note("provenance", "worker_tracking")
        return None if tracked == NOT_TRACKED else self._tracking()

    def _tracking(self) -> dict[str, Any]:
        """Samples, and what only the user's own backend knows."""
        return self._core.tracking() | self._notes.document("tracking_data")

    @property
    def span_metrics(self) -> dict[Any, Any]:
        """What Dask, or a backend of the user's, measured under spans."""
        return self._notes.document("span_metrics")

    # ---- tables --------------------------------------------------------------------

    def table(self, name: str) -> _core.Table:
        """A table by its name, also those that are no attributes."""
        with self._lock:
            self._refresh()
            key = f"table {name}"
            if key not in self._results:
                self._results[key] = self._core.table(name)
                self._warn_of_damage()
            found: _core.Table = self._results[key]
            return found

    def samples(self, series: str) -> _core.Table:
        """One series of all workers as columns: worker, time, value."""
        return self._core.samples(series)

    def to_pandas(self) -> Any:
        """The chunks as a pandas.DataFrame."""
        return self.chunks.to_pandas()

    # ---- what to run again -----------------------------------------------------------

    @property
    def fileset(self) -> dict[str, Any]:
        """Datasets and files that were given to the Runner, in all its calls.

        Of a call with more than 12 MiB of them only the hash is kept.
        """
        found: dict[str, Any] = {}
        for number in itertools.count(1):
            if self._core.note("call", f"{number} call") is None:
                return found
            given = self._core.note("call", f"{number} given")
            found = merged(found, read_text(given or ""))
        raise AssertionError  # for type checkers

    def failed_items(self, call: int | None = None) -> list[Any]:
        """The WorkItems that are not in the result, for ``runner(items, processor)``.

        Failed, skipped, lost or never started; all of them if the call of the Runner
        gave no result. The output of the call and that of these items together have
        every entry once. What a later call of the block runs again is not missing any
        more. ``call`` (1, 2 ...) chooses one of several calls. ValueError
        where that is needed, and where files failed in preprocessing and have no items:
        see :meth:`failed_fileset`.
        """
        document = json.loads(self._ask(self._core.failed_items, call))
        originals = self._recorder.originals if self._recorder else {}
        items = rerun.items_of(document, originals, stacklevel=2)
        self._warn_of_damage()
        if self._recorder:
            self._recorder.hand_out(document, items)
        return items

    def failed_fileset(
        self, call: int | None = None, *, without_items: bool = False
    ) -> dict[str, Any]:
        """The files none of whose chunks are in the result; {} if there are none.

        ValueError if a file is in the result in part: see :meth:`failed_items`.
        ``without_items`` gives only files that failed in preprocessing, which are not
        among the items. URLs that were signed are so again in the process that was
        given them.
        """
        text = self._ask(self._core.failed_fileset, call, without_items)
        found: dict[str, Any] = decode(json.loads(text))
        self._warn_of_damage()
        if found:
            document = json.loads(self._ask(self._core.failed_items, call))
            recorder = self._recorder
            given = recorder.metadata.get(document["call"], {}) if recorder else {}
            found = rerun.exact(found, given)
            found = sign(found, recorder.signed_urls if recorder else {})
            rerun.warn_if_not_added(document, stacklevel=2)
            if recorder:
                recorder.hand_out(document, found)
        return found

    def _ask(self, question: Any, call: int | None, *more: Any) -> str:
        if call is not None and not 0 < call < 2**32:
            raise ValueError(f"call={call!r}: calls of the Runner are numbered from 1")
        with self._lock:
            self._refresh()
        answer: str = question(call or 0, *more)
        return answer

    # ---- pages ---------------------------------------------------------------------

    def print_summary(self, full: bool = False) -> None:
        """Print what was measured, in at most 70 lines, or everything."""
        print(self._page("full" if full else "text").rstrip("\n"))

    def _page(self, kind: str) -> str:
        """The run as ``text``, in ``full``, its ``headline``, or a ``card``."""
        why_off = self._notes.text("why_off")
        if why_off:
            return f"<div>{why_off}</div>" if kind == "card" else why_off
        with self._lock:
            self._refresh()
        return self._core.page(kind)

    def __str__(self) -> str:
        return self._page("headline")

    def __repr__(self) -> str:
        state = "partial" if self.partial else "finished"
        known = [(self.id or "")[:8], self._notes.text("processor"), state]
        words = (repr(word)[1:-1] for word in known if word)  # a file is not trusted
        return f"<roastcoffea.Run {', '.join(words)}>"

    def _repr_html_(self) -> str:
        return self._page("card")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython on a terminal, where there are no cards."""
        printer.text(str(self))

    # ---- files ---------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write the run to a file and return its path; also while the run goes on.

        FileExistsError if there is a file, unless it is to be replaced.
        """
        target = Path(path)
        if not overwrite and os.path.lexists(target):
            raise FileExistsError(f"{target} exists: overwrite=True replaces it")
        self._complete()
        self._core.save(target, overwrite)
        return target

    def export(
        self,
        format: str,
        path: str | os.PathLike[str] | None = None,
        *,
        labels: Iterable[str] = (),
        anonymise: bool = False,
    ) -> bytes | Path:
        """Write the run in the format of another program and return its path.

        Formats are in docs/export.md, and in ``roast export --list``. Without a path
        the bytes are returned, if the format is one file. ``labels`` adds numbers of
        each ``worker`` or ``file`` to ``openmetrics``. ``anonymise`` replaces users,
        hosts, paths, datasets, processors and labels.
        """
        from roastcoffea.export.columns import write_columns

        wanted = {labels} if isinstance(labels, str) else set(labels)
        if wanted - {"worker", "file"}:
            raise ValueError(f"labels={labels!r}: known are 'worker' and 'file'")
        name, by_python = _format_of(format)
        target = None if path is None else Path(path)
        self._complete()
        if not by_python:
            chosen = "worker" in wanted, "file" in wanted, anonymise
            content = self._core.export(name, target, *chosen)
            return target or content or b""
        if target is None:
            raise ValueError(f"{name} is a folder of files: it needs a path")
        core = self._core.anonymised() if anonymise else self._core
        write_columns(core, name, target)
        return target

    def to_prometheus(self, path: str | os.PathLike[str] | None = None) -> str:
        """The numbers of the run as OpenMetrics text; also written to a path."""
        if path is not None:
            self.export("openmetrics", path)
            return Path(path).read_text(encoding="utf-8")
        content = self.export("openmetrics")
        assert isinstance(content, bytes)
        return content.decode()

    def _complete(self) -> None:
        """Everything is in the core, which is about to be saved."""
        with self._lock:
            self._refresh()
        self._notes.write_lists()
        _ = self.provenance

    def _write_unsynced(self, path: Path) -> None:
        """A run file in a new folder, which the caller syncs."""
        self._complete()
        self._core.save(path, False, True)

    def _samples_taken(self) -> int:
        """How often workers were sampled, all of them together."""
        return len(self.samples("worker_memory"))

    def save_measurement(
        self,
        output_dir: str | os.PathLike[str],
        measurement_name: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a measurement directory with a run file in it and return its path."""
        from roastcoffea.export.measurements import save_run

        if self.t_end is None and self._recorder:
            raise RuntimeError(NOT_ENDED)
        return save_run(self, output_dir, measurement_name, config)


def _format_of(given: str) -> tuple[str, bool]:
    """The name of a format of exports, and whether Python writes it."""
    import difflib

    found: dict[str, tuple[str, bool]] = {}
    for name, alias, by_python in _core.export_formats():
        found[name] = name, by_python
        found[alias or name] = name, by_python
    if given in found:
        return found[given]
    near = difflib.get_close_matches(str(given), found, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(found)}"
    raise ValueError(f"no format {given!r}: {hint}")


for _name in _core.table_names():  # those that are not named above for type checkers
    if not hasattr(Run, _name):
        setattr(Run, _name, TableOf(_name))


def open_run(path: str | os.PathLike[str]) -> Run:
    """A run from a ``.roast`` or ``.roast-live`` file or a measurement directory.

    Of a folder of runs, as ``monitor("DIR")`` writes them, the one that began last.
    Chunks and samples are read when they are needed. Directories without a run file,
    of roastcoffea 0.1.2 too, give what their JSON holds.
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
            from roastcoffea.export.importer import import_measurement

            return import_measurement(given)
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
