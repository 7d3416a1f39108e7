# SPDX-License-Identifier: BSD-3-Clause
"""Dask's statistical profile of its workers, as the functions of user code it met.

The profile is a tree of calls. A sample is in every function of the user's that is on
its way down, and in the innermost of them alone: what libraries do is theirs who called
them. Dask tells functions apart and not lines, so a row is a function, at the line
where it begins. It counts a sample at every call but the last one: where several calls
may have been that, those that never were another share the rest, else all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

MOST_ROWS = 20
MOST_NODES = 200_000
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]([^/\\.]+)")
STANDARD = re.compile(r"[/\\]lib(?:64)?[/\\]python\d\.\d+[/\\]")
TYPED = ("<stdin>", "<ipython-input")  # code that came from no file
OURS = re.compile(r".*[/\\]_?roastcoffea[\w.]*[/\\](.*)")
PACKAGE = Path(__file__).parents[1]


class Place(NamedTuple):
    """A function of the user's."""

    file: str
    function: str
    line: int


class HotLine(NamedTuple):
    """What ``add_hot_lines`` takes."""

    file: str
    line: int
    function: str
    text: str
    seconds: float
    self_seconds: float


def is_users(file: str, own: Iterable[str] = ()) -> bool:
    """Whether a file is of the analysis; ``own`` are its packages, where installed."""
    installed = INSTALLED.search(file)
    if installed:
        return installed[1] in own
    if file.startswith("<"):
        return file.startswith(TYPED)
    return bool(file) and not STANDARD.search(file) and not _is_ours(file)


def _is_ours(file: str) -> bool:
    """A file of this package, wherever it is there; a folder may have its name too."""
    found = OURS.search(file)
    return bool(found and found[1] and (PACKAGE / found[1]).is_file())


def hot_lines(tree: Any, interval_s: float, own: Iterable[str] = ()) -> list[HotLine]:
    """The functions in which most seconds went, those first."""
    own = frozenset(own)
    total: dict[Place, float] = {}
    alone: dict[Place, float] = {}
    texts: dict[Place, str] = {}
    waiting: list[tuple[Any, float, tuple[Place, ...]]] = [(tree, 0.0, ())]
    for _ in range(MOST_NODES):
        if not waiting:
            break
        node, ended, users = waiting.pop()
        place = _place(node, own)
        if place and place not in users:
            total[place] = total.get(place, 0) + _count(node) + ended
            texts.setdefault(place, _text(place, node))
        if place:
            users = (*(user for user in users if user != place), place)
        shares = _shares(node)
        if users:
            here = ended + (0 if shares else _count(node))
            alone[users[-1]] = alone.get(users[-1], 0) + here
        waiting += [(child, share, users) for child, share in shares]
    hottest = sorted(total, key=lambda place: (-total[place], place))[:MOST_ROWS]
    return [
        HotLine(
            place.file,
            place.line,
            place.function,
            texts[place],
            total[place] * interval_s,
            alone.get(place, 0) * interval_s,
        )
        for place in hottest
    ]


def _shares(node: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], float]]:
    """The calls below one, each with the samples that ended in it."""
    children = node.get("children")
    found = children.values() if isinstance(children, Mapping) else ()
    calls = [child for child in found if isinstance(child, Mapping)]
    rest = max(0, _count(node) - sum(map(_count, calls)))
    last = [id(call) for call in calls if not _count(call)] or [*map(id, calls)]
    return [(call, rest / len(last) if id(call) in last else 0.0) for call in calls]


def _count(node: Mapping[str, Any]) -> int:
    count = node.get("count")
    return count if isinstance(count, int) and count > 0 else 0


def _place(node: Mapping[str, Any], own: frozenset[str]) -> Place | None:
    """Which function of the user's a node is; None for others."""
    told = node.get("description")
    if not isinstance(told, Mapping):
        return None
    file, name = str(told.get("filename", "")), str(told.get("name", ""))
    if not is_users(file, own):
        return None
    first = str(node.get("identifier", "")).rpartition(";")[2]  # name;file;first line
    line = first if first.isdecimal() else str(told.get("line_number", ""))
    return Place(file, name, int(line) if line.isdecimal() else 0)


def _text(place: Place, node: Mapping[str, Any]) -> str:
    """The line itself, where it is that one which Dask noted."""
    told = node["description"]
    noted = told.get("line_number") == place.line
    return str(told.get("line") or "").strip() if noted else ""
