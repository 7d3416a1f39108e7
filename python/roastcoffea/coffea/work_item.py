# SPDX-License-Identifier: BSD-3-Clause
"""What coffea's executors hand to a call: which file, which entries of it.

Items are tuples of plain values; None is what this version of coffea does not have.
"""

from __future__ import annotations

from typing import Any

from ..dask.task import Place

UNKNOWN = (None,) * 6  # dataset, file, tree, uuid, first entry, one past the last


def item_at(place: Place | None, item: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """With the worker and how long ago its task began, on Dask."""
    item = item or UNKNOWN
    return item if place is None else (*item, place.address, place.begun_ago_s)


def file_of(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The fields of a FileMeta: a chunk of no entries yet."""
    for arg in reversed(args):
        if hasattr(arg, "filename") and hasattr(arg, "dataset"):
            treename = getattr(arg, "treename", None)
            return (arg.dataset, arg.filename, treename, None, 0, 0)
    return UNKNOWN


def item_of(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The fields of a WorkItem, wherever it is among the arguments."""
    for arg in reversed(args):
        item = arg[0] if isinstance(arg, tuple) and arg else arg
        try:
            return (
                getattr(item, "dataset", None),
                item.filename,
                getattr(item, "treename", None),
                getattr(item, "fileuuid", None),
                int(item.entrystart),
                int(getattr(item, "entrystop", -1)),
            )
        except Exception:  # no item, or an odd one
            continue
    return UNKNOWN
