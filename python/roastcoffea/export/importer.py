# SPDX-License-Identifier: BSD-3-Clause
"""Measurement directories as runs: 0.1.2's, and ours without a run file.

The run is filled with the calls of a live collection. Chunk records are added as by
``set_chunk_metrics()``: the frame has what formulas read, a document has the dicts.
docs/import.md lists where each value goes.

0.1.2 wrote 0 for unknown numbers, and took the times of the block from a clock without
a date.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe
from roastcoffea.backends import tracking_data
from roastcoffea.export.decoding import decode_document
from roastcoffea.export.encoding import HEADER
from roastcoffea.export.imported_samples import (
    MAX_TIME_S,
    Samples,
    Span,
    number,
    time_ns,
    to_ns,
)
from roastcoffea.export.measurements import METRICS, TIMING, read_files
from roastcoffea.run import Run
from roastcoffea.run_notes import RunNotes, printable

MAX_FILE_BYTES = 2**31  # of JSON; in Python objects it is several times as large
EPOCH_FROM_S = 1e9  # a block that began earlier was timed by a clock without a date

FACTS = {  # metric: fact
    "total_events": "report_events",
    "total_bytes_read": "report_bytes",
    "total_cpu_time": "report_process_seconds",
    "num_chunks": "report_chunks",
    "runner_calls": "runner_calls",
    "runner_failures": "runner_failures",
}
SPANS = "raw_span_metrics"
SPAN_FACTS = [  # fact, metric of ours, metrics of 0.1.2 that add up to it
    (
        "span_cpu_seconds",
        "cpu_time_seconds",
        *("processor_cpu_time_seconds", "overhead_cpu_time_seconds"),
    ),
    (
        "span_noncpu_seconds",
        "io_time_seconds",
        *("processor_io_wait_time_seconds", "overhead_io_wait_time_seconds"),
    ),
]


def import_measurement(path: str | os.PathLike[str]) -> Run:
    """The run of a measurement directory.

    FileNotFoundError where a file is missing, FormatError for files that cannot be read
    as a measurement.
    """
    folder = Path(path)
    if (folder / _core.RUN_NAME).is_file():  # the run itself
        return Run(_core.open_run(folder / _core.RUN_NAME), folder)
    try:
        _check_size(folder / METRICS)
        _check_size(folder / TIMING, 1024)
        document, t0, t1 = read_files(folder)
        if not (abs(t0) < MAX_TIME_S and abs(t1) < MAX_TIME_S):
            raise ValueError(f"Invalid timing format in {folder / TIMING}: {t0},{t1}")
        return _Import(folder, document).run(t0, t1)
    except (ValueError, RecursionError, MemoryError) as error:
        words = {RecursionError: "nested too deep", MemoryError: "too large for memory"}
        why = words.get(type(error)) or " ".join(str(error).split())
        where = "" if str(folder) in why else f"{folder / METRICS}: "
        refused = _probe.FormatError(where + why)
        refused.code = "BAD_DATA"
        raise refused from error


def _check_size(path: Path, most: int = MAX_FILE_BYTES) -> None:
    if path.is_file() and path.stat().st_size > most:
        raise ValueError(f"{path} is larger than {most} bytes")


class _Import:
    """Imports one directory; ``lost`` counts values that the run cannot hold."""

    def __init__(self, folder: Path, document: dict[str, Any]) -> None:
        self.folder = folder
        self.is_ours = isinstance(document.get(HEADER), dict)
        self.metrics = decode_document(document)
        self.lost = 0
        self._sizes: dict[str, tuple[list[Any], float]] = {}  # by file and tree
        self.metadata = self._extra("metadata.json") or {}
        self.records = self._records()
        self.sampled = Samples(self._tracking())

    def run(self, t0: float, t1: float) -> Run:
        chunks = _span(self.records)
        self.sampled.localize(None if self.is_ours else chunks)
        took_ns = to_ns(self._elapsed(t1 - t0))
        has_date = t0 >= EPOCH_FROM_S
        start_ns = to_ns(t0) if has_date else self._place(to_ns(t0), took_ns, chunks)
        core = _core.Run(0, min(start_ns, to_ns(MAX_TIME_S)), self._host())
        self._add_records(core)
        self._set_facts(core)
        tracking_data.feed(core, self.sampled.series)
        core.finish(took_ns)
        self._set_notes(core)
        core.lose("import_dropped", self.lost + self.sampled.lost)
        return Run(core, self.folder)

    # ---- files -------------------------------------------------------------------

    def _extra(self, name: str) -> dict[str, Any] | None:
        """A file that may be missing; one that is damaged is counted as lost."""
        path = self.folder / name
        if not path.is_file():
            return None
        try:
            _check_size(path)
            found = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError, OSError):
            found = None
        if isinstance(found, dict):
            return found
        self.lost += 1
        return None

    def _records(self) -> list[dict[str, Any]]:
        """Records without duplicates of the same identity."""
        found = self._take("raw_chunk_metrics", list) or []
        records: list[dict[str, Any]] = []
        seen = set()
        for record in found:
            if not isinstance(record, dict):
                continue
            who = record.get("process_id"), record.get("sequence")
            is_known = all(type(part) is int and part > 0 for part in who)
            if not is_known or who not in seen:
                records.append(record)
            if is_known:
                seen.add(who)
        self.lost += len(found) - len(records)
        return records

    def _tracking(self) -> dict[str, Any]:
        found = self._take("tracking_data", dict)
        if found is None:
            found = self._extra("worker_tracking.json")
        return found or {}

    def _take(self, name: str, kind: type) -> Any:
        """Remove a part of the metrics that has its own place in the run."""
        if isinstance(self.metrics.get(name), kind):
            return self.metrics.pop(name)
        return None

    # ---- when --------------------------------------------------------------------

    def _elapsed(self, given_s: float) -> float:
        """From the metrics, which are more precise than a difference of times."""
        for name in ("wall_time", "elapsed_time_seconds"):
            exact = number(self.metrics.get(name))
            if exact is not None and abs(exact - given_s) <= 1e-6:
                return exact
        return min(max(given_s, 0.0), MAX_TIME_S)

    def _place(self, t0_ns: int, took_ns: int, chunks: Span | None) -> int:
        """When a block began whose clock has no date."""
        samples = self.sampled.span()
        if samples:
            return max(samples[0], chunks[1] - took_ns) if chunks else samples[0]
        if chunks:
            return min(chunks[0], chunks[1] - took_ns)
        try:
            saved_ns = time_ns(datetime.fromisoformat(self.metadata["timestamp"]))
        except (KeyError, TypeError, ValueError):
            return t0_ns
        return saved_ns - took_ns if saved_ns > took_ns else t0_ns

    def _host(self) -> str | None:
        """The client's host, where workers are its own processes."""
        hosts = {str(record["host"]) for record in self.records if record.get("host")}
        is_local = any(name.startswith("pid-") for name in self.sampled.workers())
        known_here = self.is_ours and is_local and len(hosts) == 1
        return printable(hosts.pop()) if known_here else None

    # ---- into the run ------------------------------------------------------------

    def _add_records(self, core: Any) -> None:
        kept = RunNotes(core).list("records")
        for record in self.records:
            made = dict(self._with_sizes(record))
            if number(record.get("process_id")):  # `error` is made of other keys
                made.pop("error", None)
            core.add_frames(_probe.frame_of(made, len(kept.items) + 1), True)
            numbered = {"chunk_id", "attempt"}  # anew, when they are read
            kept.items.append({k: v for k, v in record.items() if k not in numbered})
        kept.write()

    def _with_sizes(self, record: dict[str, Any]) -> dict[str, Any]:
        """0.1.2 has the bytes of all branches that were read, not of each.

        The first branch gets them all, if the records of a file agree."""
        names: Any = record.get("accessed_branches")
        facts = record.get("file_metadata")
        size = number(record.get("accessed_bytes"))
        has_names = isinstance(names, list) and names and isinstance(names[0], str)
        if not (has_names and isinstance(facts, dict) and size):
            return record
        given = (names, size)
        place = f"{record.get('file')}\n{record.get('treename')}"
        if "branch_bytes" in facts or self._sizes.setdefault(place, given) != given:
            return record
        return record | {"file_metadata": facts | {"branch_bytes": {names[0]: size}}}

    def _set_facts(self, core: Any) -> None:
        for metric, name in FACTS.items():
            value = number(self.metrics.get(metric))
            may_be_zero = self.is_ours or name == "runner_failures"
            if value is not None and (value or may_be_zero):
                core.set_fact(name, value)
        errors = number(self.metrics.get("monitor_errors"))
        here = sum(number(r.get("monitor_errors")) or 0 for r in self.records)
        if errors is not None and errors >= here:  # those of records are counted again
            core.set_fact("monitor_errors", errors - here)
        for name, ours, *parts in SPAN_FACTS if self.metrics.get(SPANS) else ():
            values = [number(self.metrics.get(x)) for x in (ours, *parts)]
            given = values[:1] if self.is_ours else values[1:]
            if None not in given:
                core.set_fact(name, sum(filter(None, given)))

    def _set_notes(self, core: Any) -> None:
        for name, text in (self._take("labels", dict) or {}).items():
            self._note(core, "label", printable(name), printable(text))
        if isinstance(error := self.metrics.get("monitor_first_error"), str) and error:
            self._note(core, "run", "first_error", printable(error))
        origin = {
            "imported_from": self.metadata.get("format", "measurement directory"),
            "imported_saved_at": self.metadata.get("timestamp"),
            "imported_layout": "roastcoffea" if self.is_ours else "roastcoffea 0.1.2",
        }
        for name, text in origin.items():
            if isinstance(text, str):
                self._note(core, "provenance", name, printable(text))
        documents = {
            "custom_metrics": self._take("custom_metrics", dict),
            "sections 0": self._take("raw_section_metrics", list),
            "tracking_data": self.sampled.others,
            "config": self._extra("config.json"),
        }
        if self.records:
            self.metrics.pop("chunk_info", None)  # they say the same again
        for name, value in (documents | {"imported_metrics": self.metrics}).items():
            if value:
                try:
                    RunNotes(core).write(name, value)
                except _probe.RoastError:  # too large for a note
                    self.lost += 1

    def _note(self, core: Any, group: str, name: str, text: str) -> None:
        try:
            core.set_note(group, name, text)
        except _probe.RoastError:  # a name that is too long
            self.lost += 1


def _span(records: Iterable[Mapping[str, Any]]) -> Span | None:
    """When the first record began and the last one ended."""
    starts, ends = [], []
    for record in records:
        start = number(record.get("t_start"))
        end = number(record.get("t_end"))
        end = number(record.get("timestamp")) if end is None else end
        if start is not None and end is not None and start < MAX_TIME_S > end:
            starts.append(to_ns(start))
            ends.append(to_ns(end))
    return (min(starts), max(ends)) if starts else None
