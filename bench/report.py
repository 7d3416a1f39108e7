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
from goals import GATE, UNITS, Row

LINE = "{:4} {:41} {:>9} {:>8} {:2} {:>8} {:>15} {:>6}  {}"
HEAD = LINE.format(
    "id", "what", "reference", "ours", "", "ratio", "quartiles", "goal", "met"
)


class Outcome(NamedTuple):
    """A row with what was measured; `failed` only if the gate decided so."""

    row: Row
    result: Result
    failed: bool = False

    @property
    def met(self) -> bool | None:
        return None if self.row.goal is None else self.result.ratio >= self.row.goal


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
    folder: Path, outcomes: Sequence[Outcome], machine: dict[str, Any]
) -> None:
    """results.json has the goals and nothing else; machine.json the circumstances."""
    rows = [row_of(outcome) for outcome in outcomes]
    spread = {o.row.id: [o.result.low, o.result.high] for o in outcomes}
    record = [row for row in rows if row["goal"] is None]
    write_json(folder / "results.json", [row for row in rows if row not in record])
    facts = {**machine, "quartiles": spread, "for_the_record": record}
    write_json(folder / "machine.json", facts)
