# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of workers and of the scheduler without a run: heartbeats and spans.

Travels as source: standard library only. A worker tells the seconds of its tasks with
its heartbeats, so that a span is complete as soon as each has sent one.
"""

from __future__ import annotations

from typing import Any

from .scheduler_counts import span_counts


async def heartbeat(dask_worker: Any) -> None:
    """On a worker: tell the scheduler now."""
    await dask_worker.heartbeat()


def spans(ids: list[str], dask_scheduler: Any) -> list[Any]:
    """On the scheduler: [[names, value], ...] of what the spans add up to."""
    return span_counts(dask_scheduler, ids)


def make(name: str) -> Any:
    return globals()[name]
