# SPDX-License-Identifier: BSD-3-Clause
"""How well the cores were used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["calculate_efficiency_metrics"]


def calculate_efficiency_metrics(
    workflow_metrics: Mapping[str, Any], worker_metrics: Mapping[str, Any]
) -> dict[str, Any]:
    """core_efficiency, speedup_factor and event_rate_core_khz.

    What needs the number of cores is None without ``worker_metrics["total_cores"]``.
    Without a positive wall time the others are 0, as in 0.1.2; what was made of a value
    that is not a number is NaN.
    """
    from roastcoffea import _core

    wall = workflow_metrics.get("elapsed_time_seconds") or 0.0
    cores = worker_metrics.get("total_cores") or 0.0
    derived = _core.derive_metrics(
        {
            "wall_time": wall,
            "total_cpu_time": workflow_metrics.get("total_cpu_time") or 0.0,
            "total_events": workflow_metrics.get("total_events") or 0.0,
            "total_cores": cores,
        }
    )
    missing = math.nan if wall > 0 else 0.0

    def per_core(name: str) -> float | None:
        return derived.get(name, missing) if cores > 0 else None

    return {
        "core_efficiency": per_core("core_efficiency"),
        "speedup_factor": derived.get("speedup_factor", missing),
        "event_rate_core_khz": per_core("event_rate_core_khz"),
    }
