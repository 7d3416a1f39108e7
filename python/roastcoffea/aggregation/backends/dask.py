# SPDX-License-Identifier: BSD-3-Clause
"""Tracking data as Dask's backend gives it, and all backends of ours:

{"worker_counts": {datetime: int}, series: {worker: [(datetime, value), ...]}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from roastcoffea.aggregation.backends.base import AbstractTrackingDataParser

if TYPE_CHECKING:
    from datetime import datetime

    Series = Mapping[str, Sequence[tuple[datetime, float]]]

__all__ = [
    "DaskMetricsParser",
    "DaskTrackingDataParser",
    "calculate_average_memory_per_worker",
    "calculate_peak_memory",
    "calculate_time_averaged_workers",
]


def calculate_time_averaged_workers(
    worker_counts: Mapping[datetime, float] | None,
) -> float:
    """The number of workers, averaged over time by the trapezoid; 0 without samples."""
    from roastcoffea import _core

    return _core.average_workers(worker_counts)


def calculate_peak_memory(worker_memory: Series | None) -> float:
    """The highest sample of any worker; 0 without samples."""
    from roastcoffea import _core

    return _core.peak_memory(worker_memory)


def calculate_average_memory_per_worker(worker_memory: Series | None) -> float:
    """Memory averaged over time for each worker, then over workers."""
    from roastcoffea import _core

    return _core.average_memory(worker_memory)


class DaskTrackingDataParser(AbstractTrackingDataParser):
    """Workers, cores and memory of tracking data."""

    def parse_tracking_data(self, tracking_data: dict[str, Any]) -> dict[str, Any]:
        """See the base class; cores are None where they were not tracked."""
        from roastcoffea import _core

        return _core.worker_metrics(tracking_data)


DaskMetricsParser = DaskTrackingDataParser
