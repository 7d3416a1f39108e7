# SPDX-License-Identifier: BSD-3-Clause
"""Samples as 0.1.2 has them in ``tracking_data``, known by their shape.

Whoever writes them asks here first: a dict that only looks like them is written as any
other value is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def is_times(series: Any) -> bool:
    """{datetime: number}, and something in it."""
    return (
        isinstance(series, Mapping)
        and bool(series)
        and all(isinstance(time, datetime) for time in series)
    )


def is_series(series: Any) -> bool:
    """{worker: [(datetime, number), ...]}, and something in it."""
    return (
        isinstance(series, Mapping)
        and bool(series)
        and all(isinstance(worker, str) for worker in series)
        and all(type(line) is list for line in series.values())
        and all(
            type(pair) is tuple and len(pair) == 2 and isinstance(pair[0], datetime)
            for line in series.values()
            for pair in line
        )
    )
