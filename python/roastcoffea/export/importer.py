# SPDX-License-Identifier: BSD-3-Clause
"""Measurement directories as runs: those of roastcoffea 0.1.2, and ours without a run file.

Everything goes into the run by the calls that a live collection makes. Chunk records are
taken as ``set_chunk_metrics()`` takes dicts: the frame holds what formulas read, a
document holds the dicts. docs/import.md lists what becomes of what.

0.1.2 wrote 0 for unknown numbers, took the times of the block from a clock without a
date, and sampled in local time without a zone.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe, known
from roastcoffea.adapters import tracking
from roastcoffea.export.decoding import decode_document
from roastcoffea.export.encoding import HEADER
from roastcoffea.export.measurements import METRICS, TIMING, read_files
from roastcoffea.run import Run

MAX_FILE_BYTES = 2**31  # of JSON; in Python objects it is several times as large
MAX_TIME_S = 8e9  # nanoseconds of it fit in 64 bits
EPOCH_FROM_S = 1e9  # a block that began earlier was timed by a clock without a date
ZONE_NS = 15 * 60 * 10**9  # zones differ by multiples of it
MAX_ZONE_NS = 15 * 3600 * 10**9
SLACK_NS = 5 * 60 * 10**9  # between a sample and what happened at its time
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COUNTS = "worker_counts"

FACTS = {  # metric: fact
    "total_events": "report_events",
    "total_bytes_read": "report_bytes",
    "total_cpu_time": "report_process_seconds",
    "num_chunks": "report_chunks",
    "runner_calls": "runner_calls",
    "runner_failures": "runner_failures",
}
SPAN_FACTS = {  # fact: metric of ours, metrics of 0.1.2
    "span_cpu_seconds": (
        "cpu_time_seconds",
        ("processor_cpu_time_seconds", "overhead_cpu_time_seconds"),
    ),
    "span_noncpu_seconds": (
        "io_time_seconds",
        ("processor_io_wait_time_seconds", "overhead_io_wait_time_seconds"),
    ),
}

Point = tuple[datetime, float]
Span = tuple[int, int]  # nanoseconds since 1970


def import_measurement(path: str | os.PathLike[str]) -> Run:
    """The run of a measurement directory.

    FileNotFoundError where a file is missing, FormatError for files that cannot be read
    as a measurement.
    """
    folder = Path(path)
    if (folder / _core.RUN_NAME).is_file():  # the run itself
        return Run(_core.open_run(folder / _core.RUN_NAME), folder)
    try:
        for name in (METRICS, TIMING):
            _check_size(folder / name)
        document, t0, t1 = read_files(folder)
        if not (abs(t0) < MAX_TIME_S and abs(t1) < MAX_TIME_S):
            raise ValueError(f"Invalid timing format in {folder / TIMING}: {t0},{t1}")
        return _Import(folder, document).run(t0, t1)
    except json.JSONDecodeError as error:
        raise _format_error(f"{folder / METRICS}: {error}") from error
    except UnicodeDecodeError as error:
        raise _format_error(f"{folder}: no UTF-8 text: {error}") from error
    except ValueError as error:
        raise _format_error(str(error)) from error
    except RecursionError as error:
        raise _format_error(f"{folder / METRICS} nests too deep") from error
    except MemoryError as error:
        raise _format_error(f"{folder} does not fit in memory") from error


def _format_error(text: str) -> _probe.FormatError:
    error = _probe.FormatError(" ".join(text.split()))
    error.code = "BAD_DATA"
    return error


def _check_size(path: Path) -> None:
    if path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"{path} is larger than {MAX_FILE_BYTES >> 30} GiB")


def _number(value: Any) -> float | None:
    """A number that is not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0 <= number < math.inf else None


class _Import:
    """One directory on its way into a run; ``lost`` counts values without a place."""

    def __init__(self, folder: Path, document: dict[str, Any]) -> None:
        self.folder = folder
        self.is_ours = isinstance(document.get(HEADER), dict)
        self.metrics = decode_document(document)
        self.lost = 0
        self._sizes: dict[str, tuple[list[Any], float]] = {}  # by file and tree
        self.metadata = self._extra("metadata.json") or {}
        self.records = self._records()
        self.sampled = _Samples(self._tracking())

    def run(self, t0: float, t1: float) -> Run:
        chunks = _span(self.records)
        self.sampled.localize(None if self.is_ours else chunks)
        took_ns = _ns(self._elapsed(t1 - t0))
        has_date = t0 >= EPOCH_FROM_S
        start_ns = _ns(t0) if has_date else self._place(_ns(t0), took_ns, chunks)
        core = _core.Run(0, start_ns, self._host())
        self._add_records(core)
        self._set_facts(core)
        tracking.feed(core, self.sampled.series)
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
        """Records that say they are the same are one."""
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
        """A part of the metrics that has a place of its own in the run, if it is one."""
        if isinstance(self.metrics.get(name), kind):
            return self.metrics.pop(name)
        return None

    # ---- when --------------------------------------------------------------------

    def _elapsed(self, told_s: float) -> float:
        """Metrics have it to the nanosecond, a difference of times has not."""
        for name in ("wall_time", "elapsed_time_seconds"):
            exact = _number(self.metrics.get(name))
            if exact is not None and abs(exact - told_s) <= 1e-6:
                return exact
        return max(told_s, 0.0)

    def _place(self, t0_ns: int, took_ns: int, chunks: Span | None) -> int:
        """When a block began whose clock has no date."""
        samples = self.sampled.span()
        if samples:
            return max(samples[0], chunks[1] - took_ns) if chunks else samples[0]
        if chunks:
            return min(chunks[0], chunks[1] - took_ns)
        try:
            saved_ns = _time_ns(datetime.fromisoformat(self.metadata["timestamp"]))
        except (KeyError, TypeError, ValueError):
            return t0_ns
        return saved_ns - took_ns if saved_ns > took_ns else t0_ns

    def _host(self) -> str | None:
        """The client's host, where workers are its own processes."""
        hosts = {str(record["host"]) for record in self.records if record.get("host")}
        is_local = any(name.startswith("pid-") for name in self.sampled.workers())
        known_here = self.is_ours and is_local and len(hosts) == 1
        return known.shown(hosts.pop()) if known_here else None

    # ---- into the run ------------------------------------------------------------

    def _add_records(self, core: Any) -> None:
        kept = known.GrowingList(core, "records")
        for record in self.records:
            made = self._with_sizes(record)
            core.add_frames(_probe.frame_of(made, len(kept.items) + 1), True)
            numbered = {"chunk_id", "attempt"}  # anew, when they are read
            kept.items.append({k: v for k, v in record.items() if k not in numbered})
        kept.write()

    def _with_sizes(self, record: dict[str, Any]) -> dict[str, Any]:
        """0.1.2 told the bytes of all branches that were read, not of each.

        The first branch gets them all, where records of a file say the same."""
        names, facts = record.get("accessed_branches"), record.get("file_metadata")
        size = _number(record.get("accessed_bytes"))
        if not (isinstance(names, list) and names and isinstance(facts, dict) and size):
            return record
        told = (names, size)
        place = f"{record.get('file')}\n{record.get('treename')}"
        if "branch_bytes" in facts or self._sizes.setdefault(place, told) != told:
            return record
        return record | {"file_metadata": facts | {"branch_bytes": {names[0]: size}}}

    def _set_facts(self, core: Any) -> None:
        def fact(name: str, value: float | None, may_be_zero: bool) -> None:
            if value is not None and (value or may_be_zero):
                core.set_fact(name, value)

        numbers = {str(name): _number(value) for name, value in self.metrics.items()}
        for metric, name in FACTS.items():
            zero = self.is_ours or name == "runner_failures"
            fact(name, numbers.get(metric), zero)
        errors = numbers.get("monitor_errors")
        if errors is not None:  # those of records are counted from them
            here = sum(_number(r.get("monitor_errors")) or 0 for r in self.records)
            if errors >= here:
                core.set_fact("monitor_errors", errors - here)
        if not self.metrics.get("raw_span_metrics"):
            return
        for name, (ours, parts) in SPAN_FACTS.items():
            values = [numbers.get(part) for part in parts]
            told = [value for value in values if value is not None]
            if self.is_ours:
                fact(name, numbers.get(ours), True)
            elif len(told) == len(parts):
                core.set_fact(name, sum(told))

    def _set_notes(self, core: Any) -> None:
        for name, text in (self._take("labels", dict) or {}).items():
            self._note(core, "label", known.shown(name), known.shown(text))
        if isinstance(error := self.metrics.get("monitor_first_error"), str) and error:
            self._note(core, "run", "first_error", known.shown(error))
        told = {
            "imported_from": self.metadata.get("format", "measurement directory"),
            "imported_saved_at": self.metadata.get("timestamp"),
            "imported_layout": "roastcoffea" if self.is_ours else "roastcoffea 0.1.2",
        }
        for name, text in told.items():
            if isinstance(text, str):
                self._note(core, "provenance", name, known.shown(text))
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
                    known.write(core, name, value)
                except _probe.RoastError:  # too large for a note
                    self.lost += 1

    def _note(self, core: Any, group: str, name: str, text: str) -> None:
        try:
            core.set_note(group, name, text)
        except _probe.RoastError:  # a name that is too long
            self.lost += 1


def _ns(seconds: float) -> int:
    """Exact for the digits that a double has."""
    whole = math.floor(seconds)
    return whole * 10**9 + round((seconds - whole) * 1e9)


def _time_ns(when: datetime) -> int:
    """Nanoseconds since 1970; a time without a zone as if it were UTC."""
    since = when.replace(tzinfo=when.tzinfo or UTC) - EPOCH
    return since // timedelta(microseconds=1) * 1000


def _span(records: Iterable[Mapping[str, Any]]) -> Span | None:
    """When the first record began and the last one ended."""
    starts, ends = [], []
    for record in records:
        start = _number(record.get("t_start"))
        end = _number(record.get("t_end"))
        end = _number(record.get("timestamp")) if end is None else end
        if start is not None and end is not None and start < MAX_TIME_S > end:
            starts.append(_ns(start))
            ends.append(_ns(end))
    return (min(starts), max(ends)) if starts else None


class _Samples:
    """What was sampled of workers: ``series`` for a run, ``others`` of another shape."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.lost = 0
        self.series: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        names = _core.series_value_keys()
        for name, value in given.items():
            if name == COUNTS and isinstance(value, (dict, list)):
                pairs = value.items() if isinstance(value, dict) else value
                self.series[name] = dict(self._points(pairs))
            elif name in names and isinstance(value, dict):
                self.series[name] = {
                    worker: self._points(points) for worker, points in value.items()
                }
            else:
                self.others[name] = value

    def _points(self, given: Any) -> list[Point]:
        """(time, value) of pairs, or of {"timestamp": time, name of the value: value}."""
        points = []
        items = list(given) if isinstance(given, Iterable) else [None]
        for item in items:
            try:
                if isinstance(item, dict):
                    when = item.pop("timestamp")
                    value = next(iter(item.values()))
                else:
                    when, value = item
                if isinstance(when, str):
                    when = datetime.fromisoformat(when)
                if not isinstance(when, datetime) or _number(value) is None:
                    raise ValueError
                points.append((when, float(value)))
            except (TypeError, ValueError, KeyError, StopIteration):
                self.lost += 1
        return points

    def workers(self) -> set[str]:
        return {
            str(worker)
            for name, lines in self.series.items()
            if name != COUNTS
            for worker in lines
        }

    def span(self) -> Span | None:
        """The first and the last sample; times without a zone as if they were UTC."""
        times = [
            _time_ns(when)
            for name, lines in self.series.items()
            for points in ([lines.items()] if name == COUNTS else lines.values())
            for when, _ in points
        ]
        return (min(times), max(times)) if times else None

    def localize(self, chunks: Span | None) -> None:
        """Give times without a zone the one that they were taken in."""
        ahead_ns = self._ahead_of_last_seen()
        if ahead_ns is None and chunks:
            ahead_ns = self._ahead_of_chunks(chunks[1])
        zone = timezone(timedelta(microseconds=(ahead_ns or 0) // 1000))

        def aware(points: Iterable[Point]) -> list[Point]:
            return [(t if t.tzinfo else t.replace(tzinfo=zone), v) for t, v in points]

        for name, lines in self.series.items():
            if name == COUNTS:
                self.series[name] = dict(aware(lines.items()))
            else:
                self.series[name] = {w: aware(points) for w, points in lines.items()}

    def _ahead_of_last_seen(self) -> int | None:
        """Dask's ``last_seen`` is a time since 1970, sampled at a local one."""
        for points in self.series.get("worker_last_seen", {}).values():
            for when, seen_s in points[:1]:
                if when.tzinfo is None and seen_s < MAX_TIME_S:
                    ahead_ns = _time_ns(when) - _ns(seen_s)
                    zone_ns = _zone(ahead_ns)
                    if zone_ns is not None and abs(ahead_ns - zone_ns) <= SLACK_NS:
                        return zone_ns
        return None

    def _ahead_of_chunks(self, last_end_ns: int) -> int | None:
        """The last chunk ended soon before the last sample, and after the first one."""
        span = self.span()
        zone_ns = _zone(span[1] - last_end_ns) if span else None
        if span is None or zone_ns is None:
            return None
        end_ns = last_end_ns + zone_ns
        return zone_ns if span[0] - SLACK_NS <= end_ns <= span[1] + SLACK_NS else None


def _zone(ahead_ns: int) -> int | None:
    """The zone that a clock is in, ahead of UTC; None for none."""
    zone_ns = round(ahead_ns / ZONE_NS) * ZONE_NS
    return zone_ns if abs(zone_ns) <= MAX_ZONE_NS else None


# ---- the command ---------------------------------------------------------------------

UNREADABLE, FAILED = 3, 4  # exit codes of roast


def main(arguments: list[str]) -> int:
    """``roast import``: the exit code."""
    parser = argparse.ArgumentParser(
        prog="roast import", description="Make a run file of a measurement directory."
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it")
    parser.add_argument("directory", metavar="DIR")
    options = parser.parse_args(arguments)
    given, target = options.directory, options.output
    try:
        is_folder = stat.S_ISDIR(os.stat(given).st_mode)
    except (OSError, ValueError) as error:
        return _fail(UNREADABLE, given, f"{_reason(error)}; is the path right?")
    if not is_folder:
        is_run = given.endswith((".roast", _core.LIVE_SUFFIX))
        why = "a run file already: nothing to import"
        return _fail(
            UNREADABLE, given, why if is_run else "a file; a measurement is a directory"
        )
    beside = f"{given}/{_core.RUN_NAME}"
    if target is None and os.path.isfile(beside):
        return _fail(0, "import", f"{beside} is there already: nothing to import")
    if target is None:
        folder = given.rstrip("/") or "/"
        name = os.path.basename(folder)
        name = "run" if not name or name.startswith(".") else name
        target = f"{folder}/{name}.roast"
    try:
        run = import_measurement(given)
    except (OSError, _probe.RoastError) as error:
        why = f"{_reason(error)}; is it a measurement directory?"
        return _fail(UNREADABLE, given, why)
    try:
        run.core.save(target)
    except (OSError, _probe.RoastError, MemoryError) as error:
        why = _reason(error).removeprefix(f"{target}: ")
        return _fail(FAILED, target, f"{why}; -o writes it elsewhere")
    try:
        print(_printable(target), flush=True)
    except OSError as error:
        return _fail(FAILED, "standard output", _reason(error))
    return 0


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        named = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{named}"
    return str(error) or type(error).__name__


def _printable(text: str) -> str:
    """Text from data, without what a terminal acts on."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _fail(code: int, subject: str, why: str) -> int:
    print(_printable(f"roast: {subject}: {why}"), file=sys.stderr)
    return code
