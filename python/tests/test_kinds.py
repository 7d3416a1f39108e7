# SPDX-License-Identifier: BSD-3-Clause
"""How well numbers are known: ``get_metrics()["kinds"]`` names every metric that has a
value, those without one have a reason, and a file reports the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector_helpers import Measured, fileset_of, iterative, make_runner
from roastcoffea import MetricsCollector, open_run

KINDS = {"exact", "sampled", "estimated"}


@pytest.fixture(scope="module")
def run(tiny_file: Path) -> Any:
    with MetricsCollector() as collector:
        make_runner(iterative(), savemetrics=True)(fileset_of(tiny_file), Measured())
    return collector.run


def numbers_of(metrics: dict[str, Any]) -> set[str]:
    """Names of single numbers, known ones."""
    return {
        name
        for name, value in metrics.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def test_every_number_has_a_kind(run: Any) -> None:
    metrics = run.get_metrics()
    kinds = metrics["kinds"]
    assert set(kinds.values()) <= KINDS
    assert kinds.keys() == numbers_of(metrics)
    assert kinds.keys().isdisjoint(metrics["unavailable"])


def test_what_is_counted_and_what_is_looked_at(run: Any) -> None:
    kinds = run.get_metrics()["kinds"]
    for name in ("wall_time", "total_events", "process_seconds", "cpu_efficiency"):
        assert kinds[name] == "exact"
    for name in ("peak_memory_bytes", "peak_memory_gb", "avg_workers_simple"):
        assert kinds[name] == "sampled"
    assert kinds["monitor_seconds"] == "estimated"


def test_a_file_gives_the_same(run: Any, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.roast")
    assert open_run(path).get_metrics()["kinds"] == run.get_metrics()["kinds"]
