# SPDX-License-Identifier: BSD-3-Clause
"""Reads ``tracking_data`` of a user's backend into a run's columns.

A user's backend may give anything under any key. What has the documented shape is
taken; the rest is left to its owner and stays in ``tracking_data`` as it was given.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea import _core

MAX_COUNT = 2**31
MAX_TIME_S = 2**33  # the year 2242; what is later is no time of a sample


def feed(core: Any, tracking: Mapping[str, Any]) -> int:
    """Add the documented series; how many counts of workers there were."""
    counts = tracking.get("worker_counts")
    fed = 0
    for when, count in _pairs(counts.items() if isinstance(counts, Mapping) else ()):
        if 0 <= count < MAX_COUNT:
            core.add_count(when, int(count))
            fed += 1
    for worker, at in _moments(tracking).items():
        for when in sorted(at):
            core.add_sample(worker, when, at[when])
    return fed


def _moments(tracking: Mapping[str, Any]) -> dict[str, dict[int, dict[str, float]]]:
    """{worker: {epoch ns: {series: value}}} of the series that are known."""
    moments: dict[str, dict[int, dict[str, float]]] = {}
    for series in _core.series_value_keys():
        workers = tracking.get(series)
        for worker, points in workers.items() if isinstance(workers, Mapping) else ():
            name = _core.redact(str(worker).encode(errors="replace").decode())
            for when, value in _pairs(points):
                if 0 <= value < math.inf:
                    moments.setdefault(name, {}).setdefault(when, {})[series] = value
    return moments


def _pairs(points: Any) -> list[tuple[int, float]]:
    """(epoch ns, number) of pairs of a datetime and a number, in order."""
    if not isinstance(points, Iterable) or isinstance(points, (str, bytes, Mapping)):
        return []
    found = []
    for point in points:
        try:
            when, value = point
            found.append((_ns(when), float(value)))
        except (TypeError, ValueError, OverflowError):
            continue
    return sorted(found)


def _ns(when: Any) -> int:
    """Naive datetimes are UTC, as everywhere in the documents."""
    if isinstance(when, datetime.datetime):
        if when.tzinfo is None:
            when = when.replace(tzinfo=datetime.UTC)
        when = when.timestamp()
    seconds = float(when)
    if not 0 <= seconds < MAX_TIME_S:
        raise ValueError(f"{seconds} is no time of a sample")
    return round(seconds * 1e6) * 1000
