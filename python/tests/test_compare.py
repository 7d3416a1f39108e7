# SPDX-License-Identifier: BSD-3-Clause
"""``roastcoffea.compare()``, ``scale()``, ``forecast()``: runs beside each other.

The statistics are tested in C (tests/analyze/compare/test_compare.c, test_scale.c,
test_forecast.c); the pages are those of the program (tests/cli/compare_*.txt ...).
"""

from __future__ import annotations

import json
import subprocess

import pytest

import cli_runs
import roastcoffea
from cli_program import ENVIRONMENT, program
from roastcoffea.run import Run


@pytest.fixture
def before():
    return Run(cli_runs.twelve())


@pytest.fixture
def after():
    return Run(cli_runs.twelve(1.25))


def test_runs(before, after):
    found = roastcoffea.compare(before, after)
    cpu = found["measures"]["cpu_per_event"]
    assert cpu["pairs"] == cpu["a_chunks"] == 12
    assert 1.1 < cpu["low"] <= cpu["ratio"] <= cpu["high"]
    assert cpu["change"] == "more"
    assert found.first == found["first"] != ""
    assert found["metrics"]["cpu_seconds"]["b"] == after.metrics["cpu_seconds"]
    assert found["budget"]["compute"]["a"] == before.metrics["budget"]["compute"]
    assert str(found).splitlines()[2] == found.first


def test_metrics_and_paths_stand_for_their_run(before, after, tmp_path):
    path = before.save(tmp_path / "before.roast")
    of_runs = roastcoffea.compare(before, after)
    for a in (before.get_metrics(), path, str(path), roastcoffea.open_run(path)):
        found = roastcoffea.compare(a, after.get_metrics())
        assert found["measures"] == of_runs["measures"]
        assert found["metrics"] == of_runs["metrics"]


def said(*arguments):
    """What the program prints."""
    done = subprocess.run(
        [program(), *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def is_said(found, *arguments):
    """Python and the program give the same numbers, and the same page."""
    assert json.loads(said(*arguments, "-f", "json")) == found
    assert said(*arguments) == str(found)


def test_the_program_shows_the_same(before, after, tmp_path):
    paths = [
        str(run.save(tmp_path / name))
        for run, name in ((before, "a.roast"), (after, "b.roast"))
    ]
    is_said(roastcoffea.compare(*paths), "compare", *paths)


def test_other_processors_are_named_and_not_judged(before):
    other = Run(cli_runs.twelve(0.5, processor="Other"))
    found = roastcoffea.compare(before, other)
    assert found["differs"]["processor"]["how"] == "Analysis in A, Other in B"
    assert "outside process()" in found["differs"]["processor"]["comparable"]
    assert found["processors"] == {"a": "Analysis", "b": "Other"}
    assert "neither is better" in found.first
    assert found["measures"]["cpu_per_event"]["change"] == "unknown"
    assert "Different processors: Analysis in A, Other in B." in str(found)


def test_larger_chunks_are_named(before):
    found = roastcoffea.compare(before, Run(cli_runs.twelve(size=4)))
    assert list(found["differs"]) == ["chunksize"]
    assert "better" not in found.first


def test_a_run_without_chunks():
    empty = Run(cli_runs.begun())
    found = roastcoffea.compare(empty, empty)
    cpu = found["measures"]["cpu_per_event"]
    assert (cpu["change"], cpu["low"], cpu["a"]) == ("unknown", None, None)
    assert cpu["why"]


@pytest.mark.parametrize("wrong", [None, 5, {"wall_time": 3.0}])
def test_what_is_no_run_is_refused(wrong, before):
    with pytest.raises(TypeError, match="compare"):
        roastcoffea.compare(before, wrong)


def test_a_path_without_a_run(before, tmp_path):
    with pytest.raises(FileNotFoundError):
        roastcoffea.compare(before, tmp_path / "nowhere.roast")


# ---- scaling -------------------------------------------------------------------------


@pytest.fixture
def crowds():
    """The same analysis on 1 to 8 threads."""
    seconds = {1: 20.0, 2: 10.25, 4: 5.5, 8: 3.25}
    return [Run(cli_runs.twelve(1, n, seconds[n])) for n in seconds]


def test_scaling(crowds):
    found = roastcoffea.scale(crowds)
    rates = [run.metrics["event_rate_wall_khz"] * 1e3 for run in crowds]
    assert [point["event_rate"] for point in found["runs"]] == pytest.approx(rates)
    assert [point["threads"] for point in found["runs"]] == [1, 2, 4, 8]
    assert found["runs"][0]["efficiency"] == 1
    assert found["sigma"]["low"] <= found["sigma"]["value"] <= found["sigma"]["high"]
    assert [point["run"] for point in found["runs"]] == ["Analysis"] * 4


def test_the_program_scales_alike(crowds, tmp_path):
    paths = [str(run.save(tmp_path / f"{i}.roast")) for i, run in enumerate(crowds)]
    is_said(roastcoffea.scale(paths), "scale", *paths)
    assert roastcoffea.scale(iter(paths)) == roastcoffea.scale(paths)


def test_a_rate_that_falls_is_said_to_fall(crowds):
    crowds.append(Run(cli_runs.twelve(1, 16, 4.5)))
    found = roastcoffea.scale(crowds)
    assert found["trend"] == "falls"
    assert "The rate falls: 554 events/s with 8 threads, 400 events/s with 16." in str(
        found
    )


def test_processors_are_mixed_on_request(before):
    other = Run(cli_runs.twelve(0.5, 4, processor="Other"))
    with pytest.raises(ValueError, match=r"Analysis and Other.*mix=True"):
        roastcoffea.scale([before, other])
    mixed = roastcoffea.scale([before, other], mix=True)
    assert "processors" in mixed["remark"]


def test_one_run_has_no_law(before):
    found = roastcoffea.scale([before])
    assert found["why"]
    assert len(found["runs"]) == 1


@pytest.mark.parametrize("wrong", ["a.roast", None, 5])
def test_one_run_is_no_list(wrong):
    with pytest.raises(TypeError, match="list of runs"):
        roastcoffea.scale(wrong)


def test_what_cannot_be_scaled(before):
    with pytest.raises(TypeError, match=r"scale\(\) takes runs"):
        roastcoffea.scale([before, {}])
    with pytest.raises(ValueError, match="at least one"):
        roastcoffea.scale([])
    with pytest.raises(TypeError, match="list of runs"):
        roastcoffea.scale(before)


# ---- forecast ------------------------------------------------------------------------


def test_forecast(before):
    found = roastcoffea.forecast(before, events=1e6, workers=10)
    wall = found["wall_seconds"]
    assert wall["low"] <= wall["value"] <= wall["high"]
    assert "last chunks" in found["ranges"]  # no word of how sure that is
    assert "sure_percent" not in found
    twice = roastcoffea.forecast(before, events=2e6, workers=10)
    assert twice["thread_seconds"]["value"] == pytest.approx(
        2 * found["thread_seconds"]["value"], rel=1e-3
    )


@pytest.mark.parametrize("chunksize", [None, 500])
def test_the_program_forecasts_the_same(before, tmp_path, chunksize):
    path = str(before.save(tmp_path / "before.roast"))
    options = ["--events", "1e9", "--workers", "50"]
    options += ["--chunksize", str(chunksize)] if chunksize else []
    found = roastcoffea.forecast(path, events=1e9, workers=50, chunksize=chunksize)
    is_said(found, "forecast", path, *options)


def test_no_forecast_without_chunks():
    found = roastcoffea.forecast(Run(cli_runs.begun()), events=10, workers=1)
    assert found["why"]
    assert str(found)


@pytest.mark.parametrize(
    "plan",
    [
        {"events": 0, "workers": 1},
        {"events": 1e6, "workers": -1},
        {"events": 1e6, "workers": float("nan")},
        {"events": float("inf"), "workers": 1},
        {"events": 1e6, "workers": 1, "chunksize": 0},
    ],
)
def test_plans_that_are_none(before, plan):
    with pytest.raises(ValueError, match="cannot be"):
        roastcoffea.forecast(before, **plan)


def test_a_forecast_of_no_run():
    with pytest.raises(TypeError, match="forecast"):
        roastcoffea.forecast(None, events=1, workers=1)
