# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: what Dask itself has added up, for spans and for the cluster.

Rows are [[names, value], ...]: keys of Dask are tuples, which do not travel as keys.
Travels as source: standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .texts import plain

WITH_SPAN = ("execute", "p2p")


def rows(counted: dict[Any, float]) -> list[list[Any]]:
    """{names: value} as it travels."""
    return [
        [[plain(part) for part in names], float(value)]
        for names, value in counted.items()
        if isinstance(names, tuple)
    ]


def span_counts(scheduler: Any, ids: Iterable[str]) -> list[list[Any]]:
    """What Dask's spans of these ids have counted, together."""
    known = scheduler.extensions["spans"].spans
    total: dict[Any, float] = {}
    for span in (known[each] for each in ids if each in known):
        for names, value in span.cumulative_worker_metrics.items():
            total[names] = total.get(names, 0) + value
    return rows(total)


def cluster_counts(scheduler: Any) -> dict[Any, float]:
    """What Dask counts for no span, since the scheduler began."""
    return {
        names: value
        for names, value in scheduler.cumulative_worker_metrics.items()
        if isinstance(names, tuple) and names and names[0] not in WITH_SPAN
    }


def differences(scheduler: Any, before: dict[Any, float]) -> list[list[Any]]:
    """The same, since then."""
    now = cluster_counts(scheduler)
    return rows({k: v - before.get(k, 0) for k, v in now.items() if v != before.get(k)})


def boot_id() -> str:
    """Which kernel this runs on: two processes of one kernel have one clock."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeError):
        return ""
