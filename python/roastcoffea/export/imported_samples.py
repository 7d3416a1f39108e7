# SPDX-License-Identifier: BSD-3-Clause
"""Samples of workers in a measurement directory, and the zone of their times.

0.1.2 sampled in local time without a zone. The zone is found by what has a time since
1970: Dask's ``last_seen``, else the end of the last chunk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from roastcoffea import _core

MAX_TIME_S = 4e9  # the year 2096; twice its nanoseconds fit in 64 bits
ZONE_NS = 15 * 60 * 10**9  # zones differ by multiples of it
MAX_ZONE_NS = 15 * 3600 * 10**9
SLACK_NS = 5 * 60 * 10**9  # between a sample and what happened at its time
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COUNTS = "worker_counts"

Point = tuple[datetime, float]
Span = tuple[int, int]  # nanoseconds since 1970


def number(value: Any) -> float | None:
    """A number that is not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0 <= number < math.inf else None


def to_ns(seconds: float) -> int:
    """Exact for the digits that a double has."""
    whole = math.floor(seconds)
    return whole * 10**9 + round((seconds - whole) * 1e9)


def time_ns(when: datetime) -> int:
    """Nanoseconds since 1970; a time without a zone as if it were UTC."""
    since = when.replace(tzinfo=when.tzinfo or UTC) - EPOCH
    return since // timedelta(microseconds=1) * 1000


class Samples:
    """What was sampled: ``series`` for a run, ``others`` have another shape."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.lost = 0
        self.series: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        names = _core.series_value_keys()
        for name, value in given.items():
            if name == COUNTS and isinstance(value, (dict, list)):
                pairs = value.items() if isinstance(value, dict) else value
                self.series[name] = dict(self._points(pairs))
            elif name in names and isinstance(value, dict):
                self.series[name] = {
                    worker: self._points(points) for worker, points in value.items()
                }
            else:
                self.others[name] = value

    def _points(self, given: Any) -> list[Point]:
        """(time, value) of pairs, or of {"timestamp": time, its name: value}."""
        points = []
        items: list[Any] = list(given) if isinstance(given, Iterable) else [None]
        for item in items:
            try:
                if isinstance(item, dict):
                    when = item.pop("timestamp")
                    value = next(iter(item.values()))
                else:
                    when, value = item
                if isinstance(when, str):
                    when = datetime.fromisoformat(when)
                if not isinstance(when, datetime) or number(value) is None:
                    raise ValueError
                points.append((when, float(value)))
            except (TypeError, ValueError, KeyError, StopIteration):
                self.lost += 1
        return points

    def workers(self) -> set[str]:
        return {
            str(worker)
            for name, lines in self.series.items()
            if name != COUNTS
            for worker in lines
        }

    def span(self) -> Span | None:
        """The first and the last sample; times without a zone as if they were UTC."""
        times = [
            time_ns(when)
            for name, lines in self.series.items()
            for points in ([lines.items()] if name == COUNTS else lines.values())
            for when, _ in points
        ]
        return (min(times), max(times)) if times else None

    def localize(self, chunks: Span | None) -> None:
        """Give times without a zone the one that they were taken in."""
        ahead_ns = self._ahead_of_last_seen()
        if ahead_ns is None and chunks:
            ahead_ns = self._ahead_of_chunks(chunks[1])
        zone = timezone(timedelta(microseconds=(ahead_ns or 0) // 1000))

        def aware(points: Iterable[Point]) -> list[Point]:
            return [(t if t.tzinfo else t.replace(tzinfo=zone), v) for t, v in points]

        for name, lines in self.series.items():
            if name == COUNTS:
                self.series[name] = dict(aware(lines.items()))
            else:
                self.series[name] = {w: aware(points) for w, points in lines.items()}

    def _ahead_of_last_seen(self) -> int | None:
        """Dask's ``last_seen`` is a time since 1970, sampled at a local one."""
        for points in self.series.get("worker_last_seen", {}).values():
            for when, seen_s in points[:1]:
                if when.tzinfo is None and seen_s < MAX_TIME_S:
                    ahead_ns = time_ns(when) - to_ns(seen_s)
                    zone_ns = _zone(ahead_ns)
                    if zone_ns is not None and abs(ahead_ns - zone_ns) <= SLACK_NS:
                        return zone_ns
        return None

    def _ahead_of_chunks(self, last_end_ns: int) -> int | None:
        """The last chunk ended soon before the last sample, and after the first one."""
        span = self.span()
        zone_ns = _zone(span[1] - last_end_ns) if span else None
        if span is None or zone_ns is None:
            return None
        end_ns = last_end_ns + zone_ns
        return zone_ns if span[0] - SLACK_NS <= end_ns <= span[1] + SLACK_NS else None


def _zone(ahead_ns: int) -> int | None:
    """The zone that a clock is in, ahead of UTC; None for none."""
    zone_ns = round(ahead_ns / ZONE_NS) * ZONE_NS
    return zone_ns if abs(zone_ns) <= MAX_ZONE_NS else None
