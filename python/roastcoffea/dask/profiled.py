# SPDX-License-Identifier: BSD-3-Clause
"""On the client: what workers found in their profiles (hot_places.py), added up."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

MOST_ROWS = 20
PACKAGE = Path(__file__).parents[1]


class HotLine(NamedTuple):
    """What ``add_hot_lines`` takes."""

    file: str
    line: int
    function: str
    text: str
    seconds: float
    self_seconds: float


@functools.cache
def our_files() -> list[str]:
    """Of this package, inside it."""
    found = PACKAGE.rglob("*.py")
    return sorted(path.relative_to(PACKAGE).as_posix() for path in found)


def hot_lines(profile: Any, interval_s: float) -> list[HotLine]:
    """The functions in which most seconds went, those first: ``rows`` of some workers,
    as JSON, and how many workers each of them stands for."""
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
    return sorted(added.values(), key=lambda row: (-row.seconds, row))[:MOST_ROWS]
