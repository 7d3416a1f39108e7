# SPDX-License-Identifier: BSD-3-Clause
"""What ``selftest()`` checks: our numbers of a known run against other sources.

Each check is a row: what, ours, theirs, difference_percent, verdict, source, why. Times
taken inside of what is measured and around it give a range. Ours is in it whatever else
the machine does; a wide range shows that the machine was busy.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any, NamedTuple

from roastcoffea.run import Run
from roastcoffea.selftest_analysis import CHUNK_EVENTS, DELAY_S, MEMORY_BYTES

OK, DIFFERS, UNSURE = "ok", "differs", "unsure"
SLACK = 0.02  # between two clocks that are read one after the other
SLACK_S = 0.002  # the same, for each chunk
WIDE = 0.25  # a range that says little
MEMORY_SLACK = 0.1
MOST_UNEXPLAINED_PERCENT = 5.0  # of a run of seconds; long ones stay below 2
ROUNDING_PERCENT = 1e-7
BUSY = "the machine is too busy to decide"

HEAD = f"  {'':<8}{'':<24}{'ours':>11}{'theirs':>11}"

Row = dict[str, Any]


class Known(NamedTuple):
    """What is known before the run."""

    chunks: int
    sum: float
    threads: int  # of all workers


class Measured(NamedTuple):
    """A run, and what other sources say of it."""

    run: Run
    output: dict[str, Any]
    inside_s: float  # a clock in the block, and one around it
    around_s: float
    threads: int  # when it was over
    left: list[str]  # what we left behind


def line_of(row: Row) -> str:
    """A check as a line."""

    def text(value: float | None) -> str:
        if value is None:
            return "-"
        unit = row["unit"]
        return f"{round(value, 9):.4g} {unit}" if unit else f"{value:.10g}"

    off = row["difference_percent"]
    exact = off is not None and abs(off) < ROUNDING_PERCENT
    difference = "" if off is None else "exact" if exact else f"{off:+.2g} %"
    start = f"  {row['verdict']:<8}{row['what']:<24}"
    numbers = f"{text(row['ours']):>11}{text(row['theirs']):>11}{difference:>10}"
    return f"{start}{numbers}  {row['why'] or row['source']}".rstrip()


class Checks:
    """The checks of one run."""

    def __init__(self, known: Known, measured: Measured) -> None:
        self.known, self.measured = known, measured
        self.metrics = measured.run.get_metrics()
        self.records = measured.run.chunk_metrics
        self.own = measured.output  # times that the analysis took
        self.slack_s = SLACK_S * known.chunks
        busy = self.own["loop"] / self.own["loop_cpu"] - 1
        self.is_busy = busy > WIDE

    def all(self) -> Iterator[Row]:
        yield from self.counts()
        yield from self.clocks()
        yield from self.other_sources()
        yield self.memory()
        yield from self.accounts()
        yield from self.traces()

    # ---- what is known ---------------------------------------------------------------

    def counts(self) -> Iterator[Row]:
        chunks = self.known.chunks
        starts = sorted(record["entry_start"] for record in self.records)
        once = starts == [i * CHUNK_EVENTS for i in range(chunks)]
        row = _exact("records, one per chunk", len(starts), chunks, "the file")
        yield row if once else row | {"verdict": DIFFERS}
        events = self.metrics.get("total_events_from_chunks")
        yield _exact("events", events, chunks * CHUNK_EVENTS, "the file")
        yield _exact("your result", self.own["sum"], self.known.sum, "the file")

    # ---- times that the analysis took itself -----------------------------------------

    def clocks(self) -> Iterator[Row]:
        own, budget = self.own, self.metrics.get("budget") or {}
        cpu_s = sum(record.get("cpu_time") or 0.0 for record in self.records)
        clock = "a clock in process()"
        yield self.between("CPU in process()", cpu_s, (own["cpu"], own["cpu"]), clock)
        slept_s = self.metrics["sections"].get("sleep", {}).get("total")
        span = (own["sleep_inside"], own["sleep_around"])
        yield self.between("a sleep, as a section", slept_s, span, clock)
        delays_s = self.known.chunks * DELAY_S
        span = (delays_s, own["read"])
        row = self.between("wait for data", budget.get("fetch"), span, "planted")
        yield self.excused(row)  # a thread without a core did not wait
        inside_s = own["loop"] + own["sleep_inside"] + own["memory"]
        span = (inside_s, own["process"] - delays_s)
        row = self.between("your process()", budget.get("compute"), span, clock)
        yield self.excused(row)

    def between(
        self, what: str, ours: float | None, span: tuple[float, float], source: str
    ) -> Row:
        """Seconds that lie between two others."""
        least, most = span
        slack_s = SLACK * most + self.slack_s
        verdict, why = OK, ""
        if ours is None:
            verdict, why = DIFFERS, "not measured"
        elif not least - slack_s <= ours <= most + slack_s:
            verdict = DIFFERS
        elif most - least > WIDE * most + self.slack_s:
            verdict, why = UNSURE, BUSY
        return _row(what, ours, least, source, verdict, "s", why)

    # ---- coffea and Dask -------------------------------------------------------------

    def other_sources(self) -> Iterator[Row]:
        shown = {
            "events": ("events", ""),
            "bytes": ("bytes", ""),
            "cpu_seconds": ("CPU of chunks", "s"),
            "chunk_seconds": ("time of chunks", "s"),
        }
        for check in self.metrics.get("checks") or ():
            if check["name"] in shown and check["verdict"] != "absent":
                yield self.compared(check, *shown[check["name"]])

    def compared(self, check: Row, what: str, unit: str) -> Row:
        """A row of the run's own checks; short tasks may differ by a little more."""
        ours, theirs = check["ours"], check["theirs"]
        verdict = OK
        if check["verdict"] == "differs":
            near = unit and abs(ours - theirs) <= SLACK * theirs + self.slack_s
            verdict = OK if near else DIFFERS
        row = _row(what, ours, theirs, check["source"], verdict, unit)
        return self.excused(row) if unit else row

    def excused(self, row: Row) -> Row:
        """On a busy machine a number that differs may be right."""
        if row["verdict"] == DIFFERS and row["ours"] is not None and self.is_busy:
            return row | {"verdict": UNSURE, "why": BUSY}
        return row

    # ---- memory ----------------------------------------------------------------------

    def memory(self) -> Row:
        """Of the typical chunk: other threads may allocate and free beside it."""
        found = [record.get("memory", {}).get("allocation") for record in self.records]
        known = [value for value in found if value is not None]
        ours, theirs = statistics.median(known) if known else None, MEMORY_BYTES / 2**20
        verdict, why = OK, ""
        if ours is None:
            verdict, why = UNSURE, "not known on this system"
        elif abs(ours - theirs) > MEMORY_SLACK * theirs:
            verdict = DIFFERS
            if self.metrics.get("cores_per_worker", 1) > 1:
                verdict, why = UNSURE, "threads of a worker share its memory"
        return _row("memory of a section", ours, theirs, "planted", verdict, "MiB", why)

    # ---- the whole -------------------------------------------------------------------

    def accounts(self) -> Iterator[Row]:
        measured, metrics = self.measured, self.metrics
        span = (measured.inside_s, measured.around_s)
        wall_s = metrics.get("wall_time")
        yield self.inside("wall time", wall_s, span, "clocks around it")
        offered_s = metrics.get("offered_thread_seconds")
        if measured.threads == self.known.threads:
            threads = measured.threads
            span = (threads * span[0], threads * span[1])
            yield self.inside("worker time", offered_s, span, f"{threads} x the same")
        budget_s = sum((metrics.get("budget") or {}).values())
        near = abs(budget_s - (offered_s or 0)) <= 1e-4 * budget_s
        name, source = "sum of the budget", "worker time"
        yield _row(name, budget_s, offered_s, source, _verdict(near), "s")
        percent = metrics.get("unexplained_percent")
        few = percent is not None and percent <= MOST_UNEXPLAINED_PERCENT
        most = f"at most {MOST_UNEXPLAINED_PERCENT:g} %"
        row = _row("not explained", percent, None, most, _verdict(few), "%")
        yield self.excused(row)

    def inside(
        self, what: str, ours: float | None, span: tuple[float, float], source: str
    ) -> Row:
        """Between two clocks, of which the outer one has our own begin and end."""
        slack_s = SLACK * span[1]
        fits = ours is not None and span[0] - slack_s <= ours <= span[1] + slack_s
        return _row(what, ours, span[1], source, _verdict(fits), "s")

    def traces(self) -> Iterator[Row]:
        errors = self.metrics.get("monitor_errors")
        row = _exact("errors of the monitor", errors, 0, "")
        yield row | {"why": self.metrics.get("monitor_first_error") or ""}
        left = self.measured.left
        yield _exact("left behind", len(left), 0, "") | {"why": ", ".join(left)}


def _exact(what: str, ours: float | None, theirs: float, source: str) -> Row:
    return _row(what, ours, theirs, source, _verdict(ours == theirs))


def _verdict(agrees: bool) -> str:
    return OK if agrees else DIFFERS


def _row(
    what: str,
    ours: float | None,
    theirs: float | None,
    source: str,
    verdict: str,
    unit: str = "",
    why: str = "",
) -> Row:
    off = None
    if ours is not None and theirs is not None and (theirs or ours == theirs):
        off = 0.0 if ours == theirs else 100 * (ours - theirs) / theirs
    return {
        "what": what,
        "ours": ours,
        "theirs": theirs,
        "unit": unit,
        "difference_percent": off,
        "verdict": verdict,
        "source": source,
        "why": why,
    }
