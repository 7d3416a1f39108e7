# SPDX-License-Identifier: BSD-3-Clause
"""The same work without us and with us: how much CPU time we add.

Used by what has no reference: ladder.py, of one chunk, in turns, and together.py, where
both sides run at once. Only neighbours are compared, who begins changes with every
pair, and the first pair, which warms up, does not count. What is told is the median of
the differences and its 95 % interval, which needs no idea of how the noise of a machine
is distributed.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable

CONFIDENCE = 0.95
WIDTH = 2.0  # percent: while the interval is wider, more pairs are worth their time

Side = Callable[[], float]  # does the work; the CPU seconds that it took


def median_interval(values: list[float]) -> tuple[float, float]:
    """The binomial interval of the median: no more than so many values on one side."""
    count, outside, cut = len(values), 0.0, 0
    while outside + math.comb(count, cut) / 2**count <= (1 - CONFIDENCE) / 2:
        outside += math.comb(count, cut) / 2**count
        cut += 1
    ordered = sorted(values)
    at = max(cut - 1, 0)
    return ordered[at], ordered[-1 - at]


class Compared:
    """CPU seconds of both sides; how they come about is for who derives from it."""

    def __init__(self) -> None:
        self.plain: list[float] = []
        self.armed: list[float] = []

    def add(self) -> None:
        """One more pair."""
        raise NotImplementedError

    def more(self) -> list[float]:
        """What we added to each pair but the first, in percent."""
        both = zip(self.plain[1:], self.armed[1:], strict=True)
        return [(armed - plain) / plain * 100 for plain, armed in both]

    def is_told(self) -> bool:
        low, high = median_interval(self.more())
        return high - low <= WIDTH

    def take(self, least: int, most: int) -> None:
        """Pairs that count: as many as asked for, and more while they do not agree."""
        while len(self.plain) <= least or (
            len(self.plain) <= most and not self.is_told()
        ):
            self.add()
            for more in self.more()[-1:]:
                print(f"pair {len(self.plain) - 1}: {more:+.2f} %", file=sys.stderr)

    def figures(self) -> dict[str, float]:
        """What was found; percent, and the CPU seconds without us."""
        more = self.more()
        low, high = median_interval(more)
        return {
            "cpu_time": statistics.median(self.plain[1:]),
            "median": statistics.median(more),
            "low": low,
            "high": high,
            "pairs": len(more),
        }


class Pairs(Compared):
    """One side after the other."""

    def __init__(self, plain: Side, armed: Side) -> None:
        super().__init__()
        self.sides = plain, armed

    def add(self) -> None:
        both = list(zip(self.sides, (self.plain, self.armed), strict=True))
        for side, cpu_s in both if len(self.plain) % 2 else reversed(both):
            cpu_s.append(side())
