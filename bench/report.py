# SPDX-License-Identifier: BSD-3-Clause
"""The table on the screen, the machine it was measured on, and the two JSON files."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from duel import Result
from goals import GATE, UNITS, Limit, Row

LINE = "{:4} {:41} {:>9} {:>8} {:2} {:>8} {:>15} {:>6}  {}"
HEAD = LINE.format(
    "id", "what", "reference", "ours", "", "ratio", "quartiles", "goal", "met"
)
LIMIT_LINE = "{:9} {:26} {:13} {:>8} {:>7}  {:6} {}"
LIMIT_HEAD = LIMIT_LINE.format(
    "id", "what, in a chunk of", "1500 branches", "measured", "most", "met", ""
).rstrip()


class Outcome(NamedTuple):
    """A row with what was measured; `failed` only if the gate decided so."""

    row: Row
    result: Result
    failed: bool = False

    @property
    def met(self) -> bool | None:
        return None if self.row.goal is None else self.result.ratio >= self.row.goal


class Held(NamedTuple):
    """A limit with what was measured of its chunk (ladder.py)."""

    limit: Limit
    chunk: dict[str, float]
    failed: bool = False

    @property
    def percent(self) -> float:
        return self.chunk[self.limit.value]

    @property
    def met(self) -> bool:
        return self.percent <= self.limit.most


def three_digits(value: float) -> str:
    """Three significant digits without an exponent."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def verdict(outcome: Outcome) -> str:
    if outcome.met is None:
        return "for the record"
    if outcome.failed:
        return f"FAILED: below {GATE:.0%} of the goal"
    return "yes" if outcome.met else "no"


def line(outcome: Outcome) -> str:
    row, result = outcome.row, outcome.result
    scale = UNITS[row.unit]
    return LINE.format(
        row.id,
        row.path,
        three_digits(result.reference_ns / scale),
        three_digits(result.ours_ns / scale),
        row.unit,
        three_digits(result.ratio) + "x",
        f"{three_digits(result.low)} - {three_digits(result.high)}",
        "-" if row.goal is None else f"{row.goal:g}x",
        verdict(outcome),
    ).rstrip()


def found_how(held: Held) -> str:
    """What the figure of a limit is made of."""
    chunk = held.chunk
    if held.limit.value == "share":
        cost_ns = chunk["hook_cost"] / chunk["hook_calls"] * 1e9
        calls = f"{chunk['hook_calls']} calls of {cost_ns:.0f} ns"
        return f"{calls} in {chunk['task_time']:.2f} s"
    middle = f"median {chunk['median']:.2f} %"
    interval = f"95 % within {chunk['low']:.2f} and {chunk['high']:.2f} %"
    pairs = f"{chunk['pairs']} pairs of {chunk['cpu_time']:.2f} s"
    return f"{middle}, {interval}, {pairs}"


def limit_line(held: Held) -> str:
    return LIMIT_LINE.format(
        held.limit.id,
        held.limit.path,
        held.limit.columns,
        f"{held.percent:.3f} %",
        f"{held.limit.most:g} %",
        "FAILED" if held.failed else "yes" if held.met else "no",
        found_how(held),
    )


def limit_row(held: Held) -> dict[str, Any]:
    return {
        "id": held.limit.id,
        "ours": round(held.percent, 4),
        "reference": None,
        "unit": "%",
        "ratio": None,
        "goal": held.limit.most,
        "met": held.met,
    }


def row_of(outcome: Outcome) -> dict[str, Any]:
    row, result = outcome.row, outcome.result
    scale = UNITS[row.unit]
    return {
        "id": row.id,
        "ours": round(result.ours_ns / scale, 4),
        "reference": round(result.reference_ns / scale, 4),
        "unit": row.unit,
        "ratio": round(result.ratio, 3),
        "goal": row.goal,
        "met": outcome.met,
    }


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (text.partition(":")[2].strip() for text in lines if "model name" in text)
    return next(names, platform.processor() or "unknown")


def load() -> list[float]:
    return [round(average, 2) for average in os.getloadavg()]


def describe_machine() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_before": load(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions_line(name: str, versions: dict[str, Any]) -> str:
    known = [f"{key} {value}" for key, value in versions.items() if value]
    return f"{name:10} {', '.join(known)}"


def account_line(what: str, account: dict[str, Any]) -> str:
    """Our own records' word on what they cost."""
    times_us = [ns / 1e3 for ns in account["monitor_ns"]]
    return (
        f"{what:34} monitor_time {three_digits(statistics.median(times_us))} us, "
        f"every reading in {account['complete']} of {account['count']} records"
    )


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")


def write_files(
    folder: Path,
    outcomes: Sequence[Outcome],
    limits: Sequence[Held],
    machine: dict[str, Any],
) -> None:
    """results.json has the goals and nothing else; machine.json the circumstances."""
    rows = [row_of(outcome) for outcome in outcomes]
    spread = {o.row.id: [o.result.low, o.result.high] for o in outcomes}
    record = [row for row in rows if row["goal"] is None]
    goals = [row for row in rows if row not in record]
    write_json(folder / "results.json", goals + [limit_row(held) for held in limits])
    chunks = {held.limit.columns: held.chunk for held in limits}
    facts = {**machine, "quartiles": spread, "for_the_record": record, "a6": chunks}
    write_json(folder / "machine.json", facts)
