# SPDX-License-Identifier: BSD-3-Clause
"""User functions in Dask's statistical profile.

A profile is a tree of calls: nodes {"count", "identifier", "description", "children"},
as in distributed.profile. A sample counts for every user function on its path, and as
own time for the innermost of them, which includes the libraries it calls. Dask
distinguishes functions, not lines, so a row is a function, at its first line. Dask
counts a sample at every call but the innermost: if several calls may have been the
innermost, those without another count share the remainder, else all of them.

Workers read their own profile and send rows, because trees are large. That part is
pickled by value with worker_plugin.py: standard library only.
"""

from __future__ import annotations

import functools
import json
import linecache
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .scheduler_pages import plain

MOST_SENT = 100
MOST_SECONDS_READ = 50
MOST_NODES = 200_000
MOST_ROWS = 20
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]([^/\\.]+)")
STANDARD = re.compile(r"[/\\]lib(?:64)?[/\\]python\d\.\d+[/\\]")
TYPED = ("<stdin>", "<ipython-input")  # code without a file
OURS = re.compile(r".*[/\\]_?roastcoffea[\w.]*[/\\](.*)")

Place = tuple[str, int, str]  # file, line, function
# A call, its samples, those that ended in it, and the user functions on its path.
Waiting = tuple[dict[str, Any], int, float, tuple[Place, ...]]
Row = tuple[str, int, str, str, float, float]  # place, text of the line, samples


def is_users(file: str, own: Iterable[str] = (), ours: Iterable[str] = ()) -> bool:
    """Whether a file is user code. ``own`` are installed packages of the analysis;
    ``ours`` are the files of this package, in any folder."""
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
    """Samples of user functions, summed over trees."""

    def __init__(self, own: Iterable[str] = (), ours: Iterable[str] = ()) -> None:
        known = frozenset(own), frozenset(ours)
        self.is_users = functools.cache(lambda file: is_users(file, *known))
        self.places: dict[Any, Place | None] = {}  # of identifiers
        self.total: dict[Place, float] = {}
        self.alone: dict[Place, float] = {}
        self.texts: dict[Place, str] = {}

    def add(self, tree: Any, weight: float = 1.0) -> None:
        """Add a tree. Not recursive: it may be as deep as a stack."""
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
        """The hottest first."""
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
        """The user function of a node; None for other code."""
        identifier = node.get("identifier")
        if identifier not in self.places:
            self.places[identifier] = self._find_place(node)
        return self.places[identifier]

    def _find_place(self, node: dict[str, Any]) -> Place | None:
        described = node.get("description")
        if not isinstance(described, dict):
            return None
        file = str(described.get("filename", ""))
        if not self.is_users(file):
            return None
        first = str(node.get("identifier", "")).rpartition(";")[2]  # name;file;line
        line = first if first.isdecimal() else str(described.get("line_number", ""))
        place = (
            file,
            int(line) if line.isdecimal() else 0,
            str(described.get("name", "")),
        )
        if place not in self.texts:
            noted = described.get("line_number") == place[1]
            text = described.get("line") if noted else ""
            self.texts[place] = str(text or "").strip() or line_of(place)
        return place


def line_of(place: Place) -> str:
    """Where it can be read: a file here, or a cell of this notebook."""
    try:
        return linecache.getline(*place[:2]).strip()
    except ValueError:  # a name that no file can have
        return ""


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


def profile_of(
    worker: Any, start: float, prefixes: list[str], files: dict[str, list[str]]
) -> str:
    """On a worker: rows of tasks of these prefixes since then, as JSON. Dask keeps a
    profile of every second; of a long run some are read, with a weight."""
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


# ---- on the client -------------------------------------------------------------------


class HotLine(NamedTuple):
    """What ``add_hot_lines`` takes."""

    file: str
    line: int
    function: str
    text: str | None
    seconds: float
    self_seconds: float


@functools.cache
def our_files() -> list[str]:
    """The files of this package, relative to it."""
    package = Path(__file__).parents[1]
    found = package.rglob("*.py")
    return sorted(path.relative_to(package).as_posix() for path in found)


def hot_lines(profile: Any, interval_s: float) -> list[HotLine]:
    """The functions with the most seconds, those first: ``rows`` of some workers, and
    for how many workers each of them counts."""
    if not profile:
        return []
    seconds_each = interval_s * profile["weight"]
    added: dict[tuple[str, int, str], HotLine] = {}
    for sent in profile["rows"]:
        for file, line, function, text, total, alone in json.loads(sent):
            row = added.get((file, line, function))
            before = (row.seconds, row.self_seconds) if row else (0.0, 0.0)
            added[file, line, function] = HotLine(
                file,
                line,
                function,
                row.text or text if row else text,
                before[0] + total * seconds_each,
                before[1] + alone * seconds_each,
            )
    hottest = sorted(added.values(), key=lambda row: (-row.seconds, row))[:MOST_ROWS]
    # Code that was sent from here has its file or cell here.
    return [row._replace(text=row.text or line_of(row[:3]) or None) for row in hottest]
