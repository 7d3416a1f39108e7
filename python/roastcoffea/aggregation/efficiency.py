# SPDX-License-Identifier: BSD-3-Clause
"""How well the cores were used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["calculate_efficiency_metrics"]


def calculate_efficiency_metrics(
    workflow_metrics: Mapping[str, Any], worker_metrics: Mapping[str, Any]
) -> dict[str, Any]:
    """core_efficiency, speedup_factor and event_rate_core_khz.

    What needs the number of cores is None without ``worker_metrics["total_cores"]``.
    """
    from roastcoffea import _core

    return _core.efficiency_metrics(workflow_metrics, worker_metrics)
