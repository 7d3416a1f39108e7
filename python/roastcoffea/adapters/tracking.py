# SPDX-License-Identifier: BSD-3-Clause
"""Reads ``tracking_data`` that somebody else sampled into a run's columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any


def feed(core: Any, tracking: Mapping[str, Any]) -> None:
    """Add the documented series; what has another shape is left to its owner."""
    counts = tracking.get("worker_counts")
    for when, count in _pairs(counts.items() if isinstance(counts, Mapping) else ()):
        core.add_count(when, int(count))
    moments: dict[str, dict[int, dict[str, float]]] = {}
    for series, workers in tracking.items():
        if series == "worker_counts" or not isinstance(workers, Mapping):
            continue
        for worker, points in workers.items():
            of_worker = moments.setdefault(str(worker), {})
            for when, value in _pairs(points):
                of_worker.setdefault(when, {})[series] = value
    for worker, at in moments.items():
        for when in sorted(at):
            core.add_sample(worker, when, at[when])


def _pairs(points: Any) -> list[tuple[int, float]]:
    """(epoch ns, number) of pairs of a datetime and a number, in order."""
    if not isinstance(points, Iterable) or isinstance(points, (str, bytes, Mapping)):
        return []
    found = []
    for point in points:
        try:
            when, value = point
            found.append((_ns(when), float(value)))
        except (TypeError, ValueError):
            continue
    return sorted(found)


def _ns(when: Any) -> int:
    """Naive datetimes are UTC, as everywhere in the documents."""
    if isinstance(when, datetime.datetime):
        if when.tzinfo is None:
            when = when.replace(tzinfo=datetime.UTC)
        when = when.timestamp()
    return round(float(when) * 1e6) * 1000
