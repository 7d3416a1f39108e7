# SPDX-License-Identifier: BSD-3-Clause
"""Compare this package with roastcoffea 0.1.2: the entry of `make bench`.

    python bench/run.py [--quick] [--only a1,a3] [--gate]
                        [--reference PY] [--ours PY] [--record PY]

Prints the ratios; a full run also writes results.json and machine.json. A smoke test
or a choice of cases writes nothing, unless told where. See README.md beside this.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import report
from duel import Result, Worker, WorkerError, alone, clean_environment, measure
from goals import GATE, LADDER, LIMITS, REFERENCE_VERSION, ROWS, UNITS, Row
from report import Held, Outcome

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
RUNS, FAILURES = 3, 2  # the gate: so many failures of at most so many runs
CHUNKS = 100  # of which our own records are read
ACCOUNTS = (
    ("chunks of 1 us, back to back", False, False),
    ("chunks of 5 ms, back to back", True, False),
    ("chunks of 5 ms, 5 ms apart", True, True),
)


class Plan(NamedTuple):
    """How much is measured."""

    rounds: int
    ms: float
    pairs: int  # of chunks, in a6 ...
    most_pairs: int  # ... while they do not agree

    def rounds_of(self, row: Row) -> int:
        return min(self.rounds, row.rounds or self.rounds)


FULL = Plan(rounds=80, ms=10.0, pairs=40, most_pairs=120)
QUICK = Plan(rounds=10, ms=5.0, pairs=6, most_pairs=6)
EVERYTHING = [*(row.id for row in ROWS), LADDER]


def parse_names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in EVERYTHING]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)}: not one of {', '.join(EVERYTHING)}"
        )
    return names


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = os.environ.get
    add = parser.add_argument
    add(
        "--reference",
        metavar="PY",
        help="interpreter with roastcoffea 0.1.2",
        default=default("BENCH_REFERENCE", str(ROOT / ".venv-ref/bin/python")),
    )
    add(
        "--ours",
        metavar="PY",
        help="interpreter with this package",
        default=default("BENCH_OURS", str(ROOT / ".venv-bench/bin/python")),
    )
    add("--record", metavar="PY", help="print our times on this interpreter too")
    add("--only", metavar="IDS", type=parse_names, default=EVERYTHING, dest="names")
    add("--quick", action="store_true", help="few short rounds, for a smoke test")
    add("--gate", action="store_true", help=f"exit 1 below {GATE:.0%}% of a goal")
    add(
        "--out",
        metavar="DIR",
        type=Path,
        help="write the files there; bench/ after a full run, else nowhere",
    )
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


def run_row(sides: tuple[Worker, Worker], row: Row, plan: Plan, gate: bool) -> Outcome:
    """One run; under the gate, more of them while the case may still fail. Of several
    runs the middle one is shown."""
    runs: list[Result] = []
    failures = 0
    while not runs or (gate and 0 < failures < FAILURES and len(runs) < RUNS):
        runs.append(measure(*sides, row.id, plan.rounds_of(row), plan.ms))
        failures += below_gate(row, runs[-1])
    shown = sorted(runs, key=lambda run: run.ratio)[(len(runs) - 1) // 2]
    return Outcome(row, shown, failed=gate and failures >= FAILURES)


def run_rows(
    sides: tuple[Worker, Worker], rows: Sequence[Row], plan: Plan, gate: bool
) -> list[Outcome]:
    print(f"\n{report.HEAD}")
    outcomes = []
    for row in rows:
        outcomes.append(run_row(sides, row, plan, gate))
        print(report.line(outcomes[-1]), flush=True)
    return outcomes


def look_into_chunks(interpreter: str, plan: Plan) -> dict[str, dict[str, float]]:
    """What ladder.py and threads.py say, of chunks in processes of their own."""
    found: dict[str, dict[str, float]] = {}
    for script in ("ladder.py", "threads.py"):
        run = subprocess.run(
            [interpreter, str(FOLDER / script), str(plan.pairs), str(plan.most_pairs)],
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment(),
            check=False,
        )
        if run.returncode != 0:
            raise WorkerError(f"{interpreter}: {script} ended with {run.returncode}")
        found |= json.loads(run.stdout.splitlines()[-1])
    return found


def run_ladder(interpreter: str, plan: Plan, gate: bool) -> list[Held]:
    """a6: one run; under the gate, more of them while a limit may still fail. Of
    several runs the last one is shown."""
    print(f"\n{report.LIMIT_HEAD}")
    failures = dict.fromkeys(LIMITS, 0)
    for _ in range(RUNS if gate else 1):
        found = look_into_chunks(interpreter, plan)
        held = [Held(limit, found[limit.columns]) for limit in LIMITS]
        for one in held:
            failures[one.limit] += GATE * one.percent > one.limit.most
        if not any(0 < count < FAILURES for count in failures.values()):
            break
    held = [
        one._replace(failed=gate and failures[one.limit] >= FAILURES) for one in held
    ]
    print(*map(report.limit_line, held), sep="\n")
    return held


def print_accounts(ours: Worker) -> None:
    """What a3 leaves out, in our records' own words."""
    print("\nreadings other than memory keep a pace; what our own records say of it:")
    for what, long, pause in ACCOUNTS:
        account = ours.ask(account=CHUNKS, long=long, pause=pause)
        print(report.account_line(what, account))


def print_record(interpreter: str, rows: Sequence[Row], plan: Plan) -> None:
    with Worker(interpreter) as worker:
        print(f"\nfor the record: {report.versions_line('', worker.versions).strip()}")
        for row in rows:
            took = alone(worker, row.id, plan.rounds_of(row), plan.ms)
            took /= UNITS[row.unit]
            print(f"{row.id:4} {row.path:41} {report.three_digits(took)} {row.unit}")


def print_head(machine: dict[str, Any], reference: Worker, ours: Worker) -> None:
    cores, load = f"{machine['cores']} cores", f"load {machine['load_before']}"
    print(machine["cpu"], cores, machine["system"], load, sep=", ")
    print(report.versions_line("reference:", reference.versions))
    print(report.versions_line("ours:", ours.versions))


def compare(options: argparse.Namespace) -> int:
    plan = QUICK if options.quick else FULL
    rows = [row for row in ROWS if row.id in options.names]
    machine = report.describe_machine() | plan._asdict()
    workers = Worker(options.reference), Worker(options.ours)  # start side by side
    with workers[0] as reference, workers[1] as ours:
        check_sides(reference, ours)
        machine |= {"reference": reference.versions, "ours": ours.versions}
        print_head(machine, reference, ours)
        outcomes = run_rows((reference, ours), rows, plan, options.gate)
        if not options.quick and {"a3s", "a4s"} & set(options.names):
            print_accounts(ours)
    limits = []
    if LADDER in options.names:
        limits = run_ladder(options.ours, plan, options.gate)
    machine["load_after"] = report.load()
    print(f"load after: {machine['load_after']}")
    if options.record:
        print_record(options.record, rows, plan)
    is_full = not options.quick and set(options.names) == set(EVERYTHING)
    if options.out or is_full:
        report.write_files(options.out or FOLDER, outcomes, limits, machine)
    return int(any(outcome.failed for outcome in [*outcomes, *limits]))


def main(argv: Sequence[str] | None = None) -> int:
    try:
        return compare(parse_arguments(argv))
    except WorkerError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
