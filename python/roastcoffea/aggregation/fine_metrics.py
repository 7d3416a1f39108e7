# SPDX-License-Identifier: BSD-3-Clause
"""Dask's cumulative worker metrics as fine metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["parse_fine_metrics"]


def parse_fine_metrics(
    cumulative_worker_metrics: Mapping[tuple[str, ...], Any],
    processor_name: str | None = None,
) -> dict[str, Any]:
    """Seconds and bytes by activity.

    With ``processor_name`` (the task prefix) CPU and waiting of other tasks is
    overhead; without it all of it is the processor's.
    """
    from roastcoffea import _core

    return _core.fine_metrics(cumulative_worker_metrics, processor_name)
