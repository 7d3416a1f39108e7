# SPDX-License-Identifier: BSD-3-Clause
"""On a worker: Dask's statistical profile, as the functions of user code that it met.

A profile is a tree of calls, of nodes {"count", "identifier", "description",
"children"}, as in distributed.profile. A sample is in every function of the user's that
is on its way down, and in the innermost of them alone: what libraries do is theirs who
called them. Dask tells functions apart and not lines, so a row is a function, at the
line where it begins. It counts a sample at every call but the last one: where several
calls may have been that, those that never were another share the rest, else all.

Only what is found is sent: trees are large, and Dask looks at every object of what it
sends. Travels as source: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from .texts import plain

MOST_SENT = 100
MOST_NODES = 200_000
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]([^/\\.]+)")
STANDARD = re.compile(r"[/\\]lib(?:64)?[/\\]python\d\.\d+[/\\]")
TYPED = ("<stdin>", "<ipython-input")  # code that came from no file
OURS = re.compile(r".*[/\\]_?roastcoffea[\w.]*[/\\](.*)")

Place = tuple[str, int, str]  # file, line, function
# A call, its samples, those that ended in it, and the user's functions on its way.
Waiting = tuple[dict[str, Any], int, float, tuple[Place, ...]]
Row = tuple[str, int, str, str, float, float]  # place, text of the line, samples


def is_users(file: str, own: Iterable[str] = (), ours: Iterable[str] = ()) -> bool:
    """Whether a file is of the analysis. ``own`` are its packages, where installed;
    ``ours`` the files of this package, which may be anywhere there."""
    installed = INSTALLED.search(file)
    if installed:
        return installed[1] in own
    if file.startswith("<"):
        return file.startswith(TYPED)
    found = OURS.search(file)  # a folder of the user's may have our name too
    if found and found[1].replace("\\", "/") in ours:
        return False
    return bool(file) and not STANDARD.search(file)


class HotPlaces:
    """Samples of functions of the user's, of trees that are added one by one."""

    def __init__(self, own: Iterable[str] = (), ours: Iterable[str] = ()) -> None:
        known = frozenset(own), frozenset(ours)
        self.is_users = cache(lambda file: is_users(file, *known))
        self.places: dict[Any, Place | None] = {}  # of identifiers
        self.total: dict[Place, float] = {}
        self.alone: dict[Place, float] = {}
        self.texts: dict[Place, str] = {}

    def add(self, tree: Any, weight: float = 1.0) -> None:
        """No function calls itself: a profile may be as deep as a stack."""
        waiting: list[Waiting] = [(tree, _count(tree), 0.0, ())]
        for _ in range(MOST_NODES):
            if not waiting:
                break
            node, count, ended, users = waiting.pop()
            place = self._place(node)
            if place:
                if place not in users:
                    found = self.total.get(place, 0) + (count + ended) * weight
                    self.total[place] = found
                users = (*(user for user in users if user != place), place)
            calls = _calls(node, count, users)
            waiting += calls
            if users:
                here = (ended + (0 if calls else count)) * weight
                self.alone[users[-1]] = self.alone.get(users[-1], 0) + here

    def rows(self) -> list[Row]:
        """The hottest first. Names that are no UTF-8 would not travel."""
        hottest = sorted(self.total, key=lambda place: (-self.total[place], place))
        return [
            (
                plain(place[0]),
                place[1],
                plain(place[2]),
                plain(self.texts[place]),
                self.total[place],
                self.alone.get(place, 0.0),
            )
            for place in hottest[:MOST_SENT]
        ]

    def _place(self, node: dict[str, Any]) -> Place | None:
        """Which function of the user's a node is; None for others."""
        identifier = node.get("identifier")
        if identifier not in self.places:
            self.places[identifier] = self._look(node)
        return self.places[identifier]

    def _look(self, node: dict[str, Any]) -> Place | None:
        told = node.get("description")
        if not isinstance(told, dict):
            return None
        file = str(told.get("filename", ""))
        if not self.is_users(file):
            return None
        first = str(node.get("identifier", "")).rpartition(";")[2]  # name;file;line
        line = first if first.isdecimal() else str(told.get("line_number", ""))
        place = (file, int(line) if line.isdecimal() else 0, str(told.get("name", "")))
        if place not in self.texts:
            noted = told.get("line_number") == place[1]
            self.texts[place] = str(told.get("line") or "").strip() if noted else ""
        return place


def _calls(node: dict[str, Any], count: int, users: tuple[Place, ...]) -> list[Waiting]:
    """The calls below one, each with its samples and those that ended in it."""
    children = node.get("children")
    if not children or not isinstance(children, dict):
        return []
    calls = [child for child in children.values() if isinstance(child, dict)]
    if len(calls) == 1:  # most of a stack
        below = _count(calls[0])
        return [(calls[0], below, float(max(0, count - below)), users)]
    counts = [*map(_count, calls)]
    pairs = zip(calls, counts, strict=True)
    rest = count - sum(counts)
    if rest <= 0:
        return [(call, below, 0.0, users) for call, below in pairs]
    never = counts.count(0)  # were another: all of the rest ended in those
    share = rest / (never or len(calls) or 1)
    return [
        (call, below, 0.0 if never and below else share, users) for call, below in pairs
    ]


def _count(node: dict[str, Any]) -> int:
    count = node.get("count")
    return count if isinstance(count, int) and count > 0 else 0
