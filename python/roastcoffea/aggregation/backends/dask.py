# SPDX-License-Identifier: BSD-3-Clause
"""Tracking data as Dask's backend gives it, and all backends of ours:

{"worker_counts": {datetime: int}, series: {worker: [(datetime, value), ...]}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from operator import itemgetter
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
    return _time_average((worker_counts or {}).items())


def calculate_peak_memory(worker_memory: Series | None) -> float:
    """The highest sample of any worker; 0 without samples."""
    return _peak(
        pair[1] for pairs in (worker_memory or {}).values() for pair in pairs or ()
    )


def calculate_average_memory_per_worker(worker_memory: Series | None) -> float:
    """Memory averaged over time for each worker, then over workers."""
    from roastcoffea import _core

    sampled = [
        pairs
        for pairs in (worker_memory or {}).values()
        if any(pair[1] is not None for pair in pairs or ())
    ]
    means = [_time_average(pairs) for pairs in sampled]
    return float(_core.statistics(means)["mean"])


def _peak(values: Iterable[Any]) -> float:
    """The highest value as it was given; 0 without one."""
    from roastcoffea import _core

    known = [value for value in values if value is not None]
    highest: float | None = _core.statistics(known)["max"]
    return 0 if highest is None else highest


def _time_average(pairs: Iterable[tuple[Any, Any]]) -> float:
    """Of (time, value), in any order. Times are datetimes or numbers of seconds; a
    value of None is not known."""
    from roastcoffea import _core

    ordered = sorted(pairs, key=itemgetter(0))
    known = [(pair[0], pair[1]) for pair in ordered if pair[1] is not None]
    since = [time - ordered[0][0] for time, _ in known]
    seconds = [t.total_seconds() if isinstance(t, timedelta) else t for t in since]
    return _core.time_average(seconds, [value for _, value in known])


class DaskTrackingDataParser(AbstractTrackingDataParser):
    """Workers, cores and memory of tracking data."""

    def parse_tracking_data(self, tracking_data: dict[str, Any]) -> dict[str, Any]:
        """See the base class; cores are None where they were not tracked. The cores of
        a worker are those of its last sample."""
        from roastcoffea import _core

        counts = tracking_data.get("worker_counts")
        memory = tracking_data.get("worker_memory")
        series = (tracking_data.get("worker_cores") or {}).values()
        last = [pairs[-1][1] for pairs in series if pairs]
        cores = _core.statistics([float(n) for n in last if n is not None])
        return {
            "avg_workers": calculate_time_averaged_workers(counts),
            "peak_workers": _peak((counts or {}).values()),
            "total_cores": cores["total"] if cores["count"] else None,
            "cores_per_worker": cores["mean"] if cores["count"] else None,
            "peak_memory_bytes": calculate_peak_memory(memory),
            "avg_memory_per_worker_bytes": calculate_average_memory_per_worker(memory),
        }


DaskMetricsParser = DaskTrackingDataParser
