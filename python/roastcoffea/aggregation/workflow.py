# SPDX-License-Identifier: BSD-3-Clause
"""A whole run, from coffea's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["aggregate_workflow_metrics"]


def aggregate_workflow_metrics(
    coffea_report: Mapping[str, Any],
    t_start: float,
    t_end: float,
    custom_metrics: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Rates, totals and times of a run, under 0.1.2's names.

    ``custom_metrics`` ({dataset: {"entries", "duration", "performance_counters"}}) goes
    before the report, which then gives the number of chunks only.
    """
    from roastcoffea import _core

    return _core.workflow_metrics(coffea_report, t_start, t_end, custom_metrics)
