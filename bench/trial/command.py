# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the advice trial, and what it prints and writes."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import report
from trial.chunk_scenarios import HOG
from trial.files import ROOT
from trial.judge import Trial, Verdict
from trial.scenarios import HEALTHY, Scenario, all_scenarios

DOCUMENT = ROOT / "docs" / "findings.md"
BEGIN, END = "<!-- trial -->", "<!-- end trial -->"
LINE = "{:34} {:26} {:20} {:20} {:20} {:>8} {:>8}  {}"
HEADER = ("scenario", "executor", "planted", "first", "others")
SAVINGS = ("promised", "realised")
SLICES = 5  # shown of a run that went wrong


# ---- what is printed -----------------------------------------------------------------


def seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def cells(verdict: Verdict) -> list[str]:
    """The columns of a scenario but the last one."""
    return [
        verdict.scenario.name,
        str(verdict.place or "-"),
        verdict.scenario.planted or "nothing",
        verdict.first,
        ", ".join(verdict.others) or "-",
        seconds(verdict.promised_s),
        seconds(verdict.realised_s),
    ]


def outcome(verdict: Verdict) -> str:
    if verdict.wrong:
        return "WRONG: " + "; ".join(dict.fromkeys(verdict.wrong))
    return "ok" if verdict.ratio is None else f"ok, ratio {verdict.ratio:.2f}"


def print_verdict(verdict: Verdict, *, is_detailed: bool) -> None:
    print(LINE.format(*cells(verdict), outcome(verdict)), flush=True)
    if not verdict.result or not (is_detailed or verdict.wrong):
        return
    result = verdict.result
    shown = [f"{name} {s:.2f} s {percent:.0f} %" for name, s, percent in result.slices]
    print(f"    wall {result.wall_s:.2f} s: {', '.join(shown[:SLICES])}")
    for row in result.findings:
        saves = seconds(row.get("saves_wall_seconds"))
        print(f"    {row['id']} ({saves}): {row['evidence']}")
        print(f"        {row['advice']}", flush=True)


# ---- the document --------------------------------------------------------------------


def table(verdicts: list[Verdict]) -> str:
    machine = report.describe_machine()
    header = [*HEADER, *SAVINGS, "realised / promised"]
    rows = [[*cells(v), "-" if v.ratio is None else f"{v.ratio:.2f}"] for v in verdicts]
    lines = [header, ["---"] * len(header), *rows]
    right = sum(not verdict.wrong for verdict in verdicts)
    return "\n".join(
        [
            f"{machine['cpu']}, {machine['cores']} cores, "
            f"Python {platform.python_version()}: "
            f"{right} of {len(verdicts)} scenarios right.",
            "",
            *("| " + " | ".join(line) + " |" for line in lines),
        ]
    )


def write(verdicts: list[Verdict]) -> None:
    """The table of a whole trial, as measured."""
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"no place for the table in {DOCUMENT}")
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(verdicts)}\n{END}{after}")


# ---- the trial -----------------------------------------------------------------------


@contextlib.contextmanager
def busy_loop() -> Iterator[None]:
    """Another process that needs a core all the time."""
    core = max(os.sched_getaffinity(0))
    command = [sys.executable, "-c", HOG % core]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as loop:
        try:
            yield
        finally:
            loop.kill()


def hold(scenarios: list[Scenario], options: argparse.Namespace) -> list[Verdict]:
    """One trial."""
    trial = Trial(
        savings=options.savings, is_loaded=options.beside_load or options.loaded
    )
    begin_s = time.monotonic()
    verdicts = []
    try:
        for scenario in scenarios:
            verdicts.append(trial.judge(scenario))
            print_verdict(verdicts[-1], is_detailed=options.details)
    finally:
        trial.close()
    wrong = sum(bool(verdict.wrong) for verdict in verdicts)
    healthy = sum(verdict.scenario.planted == HEALTHY for verdict in verdicts)
    took_s = time.monotonic() - begin_s
    print(
        f"{len(verdicts)} scenarios, {healthy} of them healthy, {wrong} wrong; "
        f"{took_s:.0f} s; load {report.load()}"
    )
    return verdicts


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="advice.py", description=__doc__)
    add = parser.add_argument
    add("--list", action="store_true", help="names, and what is planted")
    add("--only", nargs="+", metavar="NAME", help="names or patterns")
    add("--quick", action="store_true", help="those of `make test`")
    add("--savings", action="store_true", help="follow the advice, three times each")
    add("--times", type=int, default=1, metavar="N", help="the whole trial N times")
    add("--beside-load", action="store_true", help="a busy loop on one core")
    add(
        "--loaded", action="store_true", help="the machine is busy: findings may say so"
    )
    add("--details", action="store_true", help="findings and slices of every run")
    add("--write", action="store_true", help=f"the table in {DOCUMENT.name}")
    return parser.parse_args(arguments)


def chosen(options: argparse.Namespace) -> list[Scenario]:
    scenarios = [s for s in all_scenarios() if s.is_quick or not options.quick]
    for pattern in options.only or []:
        if not fnmatch.filter([s.name for s in scenarios], pattern):
            sys.exit(f"no scenario {pattern!r}; see --list")
    return [
        scenario
        for scenario in scenarios
        if not options.only
        or any(fnmatch.fnmatch(scenario.name, name) for name in options.only)
    ]


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    scenarios = chosen(options)
    if options.list:
        for scenario in scenarios:
            print(f"{scenario.name:36} {scenario.planted or 'nothing'}")
        return 0
    if options.write and (options.only or options.quick or not options.savings):
        sys.exit("--write is for a whole trial with --savings")
    warnings.simplefilter("ignore")  # of coffea and Dask; all is judged by the findings
    print(LINE.format(*HEADER, *SAVINGS, ""))
    wrong = False
    with busy_loop() if options.beside_load else contextlib.nullcontext():
        for number in range(options.times):
            if options.times > 1:
                print(f"trial {number + 1} of {options.times}")
            verdicts = hold(scenarios, options)
            wrong |= any(verdict.wrong for verdict in verdicts)
    if options.write:
        write(verdicts)
    return int(wrong)
