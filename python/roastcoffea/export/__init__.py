# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as directories, metrics as tables, runs for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from roastcoffea.export.measurements import load_measurement, save_measurement

if TYPE_CHECKING:
    from roastcoffea.collector import MetricsCollector
    from roastcoffea.run import Run

__all__ = ["load_measurement", "save_measurement", "to_prometheus"]


def to_prometheus(metrics_or_run: Mapping[str, Any] | Run | MetricsCollector) -> str:
    """The numbers as OpenMetrics text. A dict that is of no run has no datasets."""
    from roastcoffea import _core
    from roastcoffea.metrics import Metrics

    given = metrics_or_run
    if not isinstance(given, Mapping):
        return given.run.to_prometheus()
    if isinstance(given, Metrics):
        return given._run.to_prometheus()
    return _core.openmetrics(given if isinstance(given, dict) else dict(given))
