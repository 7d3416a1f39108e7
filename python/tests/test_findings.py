# SPDX-License-Identifier: BSD-3-Clause
"""What to change: findings and verdict of real runs, in memory and from a file."""

from __future__ import annotations

import pytest

import roastcoffea
from collector_helpers import iterative
from saved_run_samples import measured

KEYS = {
    *("id", "severity", "title", "evidence", "advice", "overlaps"),
    *("cost_thread_seconds", "saves_wall_seconds"),
}


@pytest.fixture(scope="module")
def whole(tiny_file):
    return measured(tiny_file)


@pytest.fixture(scope="module")
def failed(tiny_file):
    return measured(tiny_file, iterative(retries=0), fails=True)


def test_a_short_run_has_nothing_to_change(whole):
    metrics = whole.get_metrics()
    assert metrics["findings"] == []
    assert metrics["verdict"].startswith("Nothing to change")


def test_failures_are_the_first_finding(failed):
    metrics = failed.get_metrics()
    finding = metrics["findings"][0]
    assert finding["id"] == "failures"
    assert finding["severity"] == "high"
    assert set(finding) <= KEYS
    assert isinstance(finding["overlaps"], list)
    assert metrics["failures"][0]["error_type"] in finding["evidence"]
    assert metrics["verdict"].startswith("First: Failures")


def test_findings_are_a_table_too(failed):
    ids = [str(cell) for cell in failed.findings["id"]]
    assert ids == [row["id"] for row in failed.get_metrics()["findings"]]


def test_a_file_keeps_the_verdict(failed, tmp_path):
    again = roastcoffea.open_run(failed.save(tmp_path / "run"))
    assert again.get_metrics()["verdict"] == failed.get_metrics()["verdict"]
    assert again.get_metrics()["findings"] == failed.get_metrics()["findings"]
