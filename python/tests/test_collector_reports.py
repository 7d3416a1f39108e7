# SPDX-License-Identifier: BSD-3-Clause
"""Coffea's report, in whatever shape a user hands it over."""

from __future__ import annotations

import pytest
from coffea.processor import Err, Ok

import roastcoffea
from collector_helpers import EVENTS, Plain, fileset_of, make_runner

REPORT = {"entries": 700, "bytesread": 8000, "processtime": 3.5, "chunks": 7}

SHAPES = {
    "report": lambda: REPORT,
    "(output, report)": lambda: ({"n": 1}, REPORT),
    "Ok": lambda: Ok(({"n": 1}, REPORT)),
    "Ok of a report": lambda: Ok(REPORT),
    "Err": lambda: Err(ValueError("mine"), value=({"n": 1}, REPORT)),
}


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_report_is_found_in_whatever_coffea_gives(shape, inside):
    with roastcoffea.monitor() as collector:
        if inside:
            collector.set_coffea_report(SHAPES[shape]())
    if not inside:
        collector.set_coffea_report(SHAPES[shape]())
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 700
    assert metrics["total_bytes_read"] == 8000
    assert metrics["total_cpu_time"] == 3.5
    assert metrics["num_chunks"] == 7


def test_result_that_has_no_report_does_no_harm(tiny_file):
    with roastcoffea.monitor() as collector:
        make_runner()(fileset_of(tiny_file), Plain())
    collector.set_coffea_report(Err(ValueError("mine")))
    collector.set_coffea_report(Ok({"n": 1}))
    assert collector.get_metrics()["total_events"] == EVENTS


@pytest.mark.parametrize("bad", [None, 7, "report", [], ({}, 7), (1, 2, 3)])
def test_something_that_is_no_report_is_refused(bad):
    with roastcoffea.monitor() as collector:
        pass
    with pytest.raises(TypeError, match="set_coffea_report"):
        collector.set_coffea_report(bad)


ODD = [None, "x", float("nan"), float("inf"), -1, pytest.param(10**400, id="huge")]


@pytest.mark.parametrize("bad", ODD)
def test_odd_values_in_a_report_do_no_harm(bad):
    with roastcoffea.monitor() as collector:
        collector.set_coffea_report(REPORT | {"entries": bad})
    metrics = collector.get_metrics()
    assert "total_events" not in metrics
    assert metrics["unavailable"]["total_events"]
    assert metrics["total_bytes_read"] == 8000


def test_later_report_replaces_the_earlier(tiny_file):
    with roastcoffea.monitor() as collector:
        collector.set_coffea_report(REPORT)
        collector.set_coffea_report(REPORT | {"entries": 5})
    assert collector.get_metrics()["total_events"] == 5


def test_custom_metrics_of_a_report_are_kept():
    custom = {"ttbar": {"weights": 3.0}}
    with roastcoffea.monitor() as collector:
        pass
    collector.set_coffea_report(REPORT, custom)
    metrics = collector.get_metrics()
    assert metrics["custom_metrics"] == custom
    assert metrics["ttbar"] == {"weights": 3.0}


def test_custom_metrics_of_the_earlier_package_go_before_the_report():
    counters = {"num_requested_bytes": 100}
    row = {"entries": 50, "duration": 2.0, "performance_counters": counters}
    with roastcoffea.monitor() as collector:
        collector.set_coffea_report(REPORT, {"ttbar": row, "qcd": row})
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 100
    assert metrics["total_bytes_read"] == 200
    assert metrics["total_cpu_time"] == 4.0
