# SPDX-License-Identifier: BSD-3-Clause
"""Compare this package with roastcoffea 0.1.2: the entry of `make bench`.

    python bench/run.py [--quick] [--only a1,a3] [--gate]
                        [--reference PY] [--ours PY] [--record PY]

Prints the ratios and writes results.json and machine.json. See README.md beside this.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import report
from duel import Result, Worker, WorkerError, alone, complain, measure
from goals import GATE, NANOSECONDS, REFERENCE_VERSION, ROWS, Row

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
RUNS, FAILURES = 3, 2  # the gate: so many failures of at most so many runs
ACCOUNTS = 50


class Plan(NamedTuple):
    """How much is measured."""

    rounds: int
    ms: float


FULL = Plan(rounds=80, ms=10.0)
QUICK = Plan(rounds=10, ms=5.0)


def parse_rows(text: str) -> list[Row]:
    known = {row.id: row for row in ROWS}
    unknown = [name for name in text.split(",") if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)}: not one of {', '.join(known)}"
        )
    return [known[name] for name in text.split(",")]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = os.environ.get
    add = parser.add_argument
    add("--reference", metavar="PY", help="interpreter with roastcoffea 0.1.2",
        default=default("BENCH_REFERENCE", str(ROOT / ".venv-ref/bin/python")))
    add("--ours", metavar="PY", help="interpreter with this package",
        default=default("BENCH_OURS", str(ROOT / ".venv-bench/bin/python")))
    add("--record", metavar="PY", help="print our times on this interpreter too")
    add("--only", metavar="IDS", type=parse_rows, default=list(ROWS), dest="rows")
    add("--quick", action="store_true", help="few short rounds, for a smoke test")
    add("--gate", action="store_true", help=f"exit 1 below {GATE:.0%} of a goal")
    add("--out", metavar="DIR", type=Path, default=FOLDER, help="where files go")
    return parser.parse_args(argv)


def check_sides(reference: Worker, ours: Worker) -> None:
    """Refuse to compare what should not be compared."""
    theirs, own = reference.versions, ours.versions
    if theirs["roastcoffea"] != REFERENCE_VERSION:
        raise WorkerError(f"the reference is roastcoffea {theirs['roastcoffea']}")
    if own["roastcoffea"] == REFERENCE_VERSION:
        raise WorkerError("ours is roastcoffea 0.1.2, the reference")
    if theirs["python"].split(".")[:2] != own["python"].split(".")[:2]:
        raise WorkerError(f"Python {theirs['python']} against {own['python']}")
    if bool(theirs["coffea"]) != bool(own["coffea"]):
        print("note: only one side has coffea in memory")


def below_gate(row: Row, result: Result) -> bool:
    return row.goal is not None and result.ratio < GATE * row.goal
