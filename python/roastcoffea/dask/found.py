# SPDX-License-Identifier: BSD-3-Clause
"""What a run on a cluster leaves beside its batches: the last answer of its scheduler.

It may be missing in parts or altogether; what is missing and why stands in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Activities = dict[tuple[str, ...], float]
Errors = dict[str, tuple[BaseException, int]]  # {where: (the first, how many)}


class Found(NamedTuple):
    """Of one scheduler."""

    scheduler: str
    spans: Activities  # {(context, prefix, activity, unit): value}
    differences: Activities  # of what Dask adds up for no span
    profile: dict[str, Any]  # as profiled.py takes it
    unmeasured: dict[str, str]  # {address of a worker: why}
    reasons: list[str]  # what is missing, in words
    errors: Errors  # of the monitor itself


def read(
    scheduler: str, answer: Mapping[str, Any], reasons: list[str], errors: Errors
) -> Found:
    """The answer to a stop; empty: there was none."""
    left_out = answer.get("left_out") or {}
    return Found(
        scheduler,
        _activities(answer.get("spans")),
        _activities(answer.get("differences")),
        dict(answer.get("profile") or {}),
        dict(answer.get("unmeasured") or {}),
        [*reasons, *(f"{what}: {why}" for what, why in left_out.items())],
        dict(errors),
    )


def _activities(rows: Any) -> Activities:
    """{names: value} of [[names, value], ...]."""
    return {tuple(map(str, names)): float(value) for names, value in rows or ()}


def all_spans(found: Iterable[Found]) -> Activities:
    """Of all schedulers. One that was watched twice counts on from the first time."""
    last = {each.scheduler: each.spans for each in found if each.spans}
    return add_up(last.values())


def add_up(parts: Iterable[Activities]) -> Activities:
    """What several schedulers counted, together."""
    total: Activities = {}
    for part in parts:
        for names, value in part.items():
            total[names] = total.get(names, 0.0) + value
    return total
