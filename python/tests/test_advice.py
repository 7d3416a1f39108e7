# SPDX-License-Identifier: BSD-3-Clause
"""The advice trial (bench/advice.py): the findings of a few of its scenarios, and that
it sees what is wrong. Savings are compared by the bench alone, on an idle machine."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from support import ROOT

sys.path.append(str(ROOT / "bench"))

from trial.analyses import rest
from trial.applied import apply
from trial.files import EVENTS, fileset
from trial.judge import Trial
from trial.places import DASK_WIDE, THREADS
from trial.scenarios import HEALTHY, Scenario, all_scenarios
from trial.setups import Result, Setup

TRIES = 3  # other work on the machine may be in the way
QUICK = [scenario for scenario in all_scenarios() if scenario.is_quick]


@pytest.fixture(scope="module")
def trial():
    trial = Trial(is_loaded=True)
    yield trial
    trial.close()


@pytest.mark.parametrize("scenario", QUICK, ids=lambda scenario: scenario.name)
def test_findings_of(trial, scenario):
    for _ in range(TRIES):
        verdict = trial.judge(scenario)
        if not verdict.wrong:
            return
    pytest.fail(f"{verdict.wrong}, {verdict.ids}: {verdict.result}")


def test_a_third_of_the_scenarios_is_healthy():
    planted = [scenario.planted for scenario in all_scenarios()]
    assert len(planted) >= 40
    assert 3 * planted.count(HEALTHY) >= len(planted)


# ---- what is wrong is seen -----------------------------------------------------------


def nothing_to_do(files):
    """Opening the file and building events is all that takes time."""
    return Setup(fileset=fileset(data=files.wide()), chunksize=100)


def test_a_run_that_is_not_healthy_is_refused(trial):
    verdict = trial.judge(Scenario("ill", HEALTHY, nothing_to_do))
    assert any(text.startswith("refused, it is not healthy") for text in verdict.wrong)


def test_a_cause_that_is_not_found_is_wrong(trial):
    verdict = trial.judge(Scenario("ill", "spilling", nothing_to_do))
    assert "spilling is not found" in verdict.wrong
    assert any(text.startswith("not planted: ") for text in verdict.wrong)


def broken(files):
    def work(events):
        raise ValueError("broken")

    return Setup(fileset=fileset(data=files.small()), steps=(work,))


def test_a_run_that_fails_is_wrong(trial):
    (text,) = trial.judge(Scenario("broken", HEALTHY, broken)).wrong
    assert "broken" in text


# ---- advice that a program can follow ------------------------------------------------

SETUP = Setup(
    place=DASK_WIDE,
    fileset=fileset(first=[ROOT / "a.root", ROOT / "b.root"], last=ROOT / "c.root"),
    steps=(partial(rest, each_s=1 / EVENTS),),
    chunksize=100,
)


def follow(trial, advice, setup=SETUP, **metrics):
    return apply(advice, setup, Result(metrics, None), trial.files)


def paths(setup):
    return [
        path.rpartition("/")[2]
        for content in setup.fileset.values()
        for path in content["files"]
    ]


def test_a_chunksize(trial):
    advice = "chunksize=25_000 (now 100); memory per worker about 900 MB"
    assert follow(trial, advice).chunksize == 25_000


def test_columns_to_preload(trial):
    changed = follow(trial, "preload=['x', 'n']")
    assert [content["preload"] for content in changed.fileset.values()] == [
        ["x", "n"]
    ] * 2


def test_what_comes_first(trial):
    assert paths(follow(trial, "put last first in the fileset")) == [
        "c.root",
        "a.root",
        "b.root",
    ]
    advice = f"put {ROOT}/b.root first in the fileset; see why it took so long"
    assert paths(follow(trial, advice)) == ["b.root", "a.root", "c.root"]


def test_threads_and_pools(trial):
    one_each = (
        "one thread per worker: 2 workers x 1 thread, each with 1/2 of the memory"
    )
    place = follow(trial, one_each).place
    assert (place.workers, place.threads, place.kind) == (2, 1, "dask")
    advice = "processes in place of threads: FuturesExecutor(workers=3) without pool=x"
    place = follow(trial, advice, Setup(place=THREADS)).place
    assert (place.workers, place.kind) == (3, "processes")


def test_items_that_are_kept(trial):
    code = "items = list(runner.preprocess(fileset)); output = runner(items, analysis)"
    advice = f"preprocess once and keep the items: {code}"
    assert follow(trial, advice).code == code


def test_what_no_program_can_follow(trial):
    assert follow(trial, "read the logs of the workers") is None
