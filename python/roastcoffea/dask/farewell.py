# SPDX-License-Identifier: BSD-3-Clause
"""On a worker, at the end of a run: a last heartbeat, and its profile.

Sent by the scheduler part to each worker, once. Taking our plugin away makes a
heartbeat, so that everything the run did there is counted, and has it say its last word
("left" in the answer: it is on its way); without a plugin the heartbeat is made here,
and there is nothing to say. Dask keeps a profile of every second; of a long run some
are looked at, and weighed. Travels as source: standard library only, and the worker it
is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .hot_places import HotPlaces
from .texts import error_words

MOST_SECONDS_READ = 50


def profile_of(
    worker: Any, start: float, prefixes: list[str], files: dict[str, list[str]]
) -> str:
    """What of the user's ran in tasks of these prefixes since then, as JSON."""
    history = [
        rows for when, rows in list(worker.profile_keys_history) if when >= start
    ]
    history.append(worker.profile_keys)
    step = 1 + (len(history) - 1) // MOST_SECONDS_READ
    found = HotPlaces(**files)
    for rows in history[::step]:
        for prefix in prefixes:
            if prefix in rows:
                found.add(rows[prefix], len(history) / len(history[::step]))
    return json.dumps(found.rows())


def make(payload: dict[str, Any]) -> Callable[..., Any]:
    """The function that the worker runs."""

    async def farewell(dask_worker: Any) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        try:
            if payload["prefixes"]:
                told = (payload[name] for name in ("start", "prefixes", "files"))
                answer["profile"] = profile_of(dask_worker, *told)
        except Exception as error:
            answer["why"] = error_words(error)
        if payload["mark"] in dask_worker.plugins:
            plugin = dask_worker.plugins[payload["mark"]]
            plugin.kept_bytes = payload.get("kept_bytes", 0)
            answer["left"] = await dask_worker.plugin_remove(name=payload["mark"])
        elif not payload.get("late"):  # it made one when it was asked first
            await dask_worker.heartbeat()
        return answer

    return farewell
