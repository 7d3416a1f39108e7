# SPDX-License-Identifier: BSD-3-Clause
"""Whether what is said of a run is right: findings, and what following them saves."""

from __future__ import annotations

import contextlib
import io
import signal
import statistics
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trial.applied import apply
from trial.files import Files
from trial.places import Place, Places
from trial.scenarios import HEALTHY, Scenario
from trial.setups import Result, Setup, run

REPEATS = 3
RATIO = 0.6, 1.7  # of what was saved to what was promised
HEALTHY_PERCENT, HEALTHY_S = 10, 0.5
MOST_S = 240  # for a scenario and its repeats
OF_OTHERS = "overloaded"  # a finding about other work on this machine


@dataclass
class Verdict:
    """What was found of one scenario."""

    scenario: Scenario
    place: Place | None = None
    ids: list[str] = field(default_factory=list)
    promised_s: float | None = None
    realised_s: float | None = None
    ratio: float | None = None
    advice: str = ""
    wrong: list[str] = field(default_factory=list)
    result: Result | None = None  # of the last run before the change

    @property
    def first(self) -> str:
        return self.ids[0] if self.ids else "-"

    @property
    def others(self) -> list[str]:
        return self.ids[1:]


# ---- findings ------------------------------------------------------------------------


def illness(result: Result) -> list[str]:
    """Why a run is not healthy: a slice but compute that is large."""
    return [
        f"{name} {percent:.0f} %, {seconds:.1f} s"
        for name, seconds, percent in result.slices
        if name != "compute" and percent >= HEALTHY_PERCENT and seconds >= HEALTHY_S
    ]


def wrong_findings(scenario: Scenario, result: Result, is_loaded: bool) -> list[str]:
    """What is wrong with the findings of a run; on a loaded machine one may say so."""
    ids = [row["id"] for row in result.findings]
    counted = [name for name in ids if not (is_loaded and name == OF_OTHERS)]
    wrong = []
    if scenario.planted == HEALTHY:
        if ill := illness(result):
            wrong.append(f"refused, it is not healthy: {', '.join(ill)}")
        if counted:
            wrong.append(f"found {', '.join(counted)}")
        return wrong
    if scenario.planted == OF_OTHERS:
        counted = ids
    if scenario.planted not in counted:
        wrong.append(f"{scenario.planted} is not found")
    elif counted[0] != scenario.planted:
        wrong.append(f"{counted[0]} comes first")
    others = set(counted) - {scenario.planted} - scenario.allowed.keys()
    if others:
        wrong.append(f"not planted: {', '.join(sorted(others))}")
    return wrong


# ---- savings -------------------------------------------------------------------------


def planted_finding(scenario: Scenario, result: Result) -> dict[str, Any] | None:
    return next((row for row in result.findings if row["id"] == scenario.planted), None)


def count_of(result: Result) -> Any:
    """The events of the output."""
    output = result.output
    if isinstance(output, tuple):  # coffea's metrics are behind it
        output = output[0]
    return output and output["n"]


class Trial:
    """Judges scenarios, one after another."""

    def __init__(self, *, savings: bool = False, is_loaded: bool = False) -> None:
        self.savings, self.is_loaded = savings, is_loaded
        self.files, self.places = Files(), Places()

    def close(self) -> None:
        self.places.close()
        self.files.close()

    def judge(self, scenario: Scenario) -> Verdict:
        verdict = Verdict(scenario)
        try:
            with at_most(MOST_S), silence():
                self._judge(verdict)
        except Exception as exception:
            traceback.print_exc()
            # coffea's messages begin with the whole item and end with the cause
            text = str(exception)[-200:]
            verdict.wrong.append(f"{type(exception).__name__}: {text}")
            self.places.close()
        return verdict

    def _judge(self, verdict: Verdict) -> None:
        scenario = verdict.scenario
        setup = scenario.make(self.files)
        verdict.place = setup.place
        ill = self._findings(verdict, setup)
        finding = planted_finding(scenario, ill)
        if not finding:
            return
        verdict.advice = finding["advice"]
        verdict.promised_s = finding.get("saves_wall_seconds")
        if self.savings and scenario.repeats and verdict.promised_s:
            self._savings(verdict, setup, ill)

    def _findings(self, verdict: Verdict, setup: Setup) -> Result:
        result = run(setup, self.places)
        verdict.result = result
        verdict.ids = [row["id"] for row in result.findings]
        verdict.wrong += wrong_findings(verdict.scenario, result, self.is_loaded)
        return result

    def _savings(self, verdict: Verdict, setup: Setup, ill: Result) -> None:
        """Pairs of runs: as it was, and as the advice of that very run has it."""
        promised, realised = [], []
        for number in range(REPEATS):
            if number > 0:
                ill = self._findings(verdict, setup)
            finding = planted_finding(verdict.scenario, ill)
            promised_s = finding and finding.get("saves_wall_seconds")
            if not finding or not promised_s:
                return  # and why is known
            changed = apply(finding["advice"], setup, ill, self.files)
            if changed is None:
                return
            cured = run(changed, self.places)
            if count_of(cured) != count_of(ill):
                verdict.wrong.append(f"{count_of(cured)} events for {count_of(ill)}")
            promised.append(promised_s)
            realised.append(ill.wall_s - cured.wall_s)
        pairs = zip(realised, promised, strict=True)
        verdict.ratio = statistics.median(real / said for real, said in pairs)
        verdict.promised_s = statistics.median(promised)
        verdict.realised_s = statistics.median(realised)
        if not RATIO[0] <= verdict.ratio <= RATIO[1]:
            verdict.wrong.append(f"realised / promised is {verdict.ratio:.2f}")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Without coffea's bars, and the tracebacks of runs that must fail."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """What takes longer is interrupted."""

    def interrupt(*_: Any) -> None:
        raise TimeoutError(f"took longer than {seconds} s")

    former = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
