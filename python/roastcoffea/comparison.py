# SPDX-License-Identifier: BSD-3-Clause
"""Comparing runs: ``print(roastcoffea.compare("monday", "today"))``.

Everything is computed in C, as for ``roast compare``, ``roast scale`` and ``roast
forecast``; this finds the runs and returns the numbers as a dict.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from typing import Any

from roastcoffea import _core
from roastcoffea.metrics import Metrics
from roastcoffea.run import Run, open_run


class Shown(dict[str, Any]):
    """Numbers, and the page that shows them."""

    def __init__(self, pages: tuple[str, str]) -> None:
        self.page, numbers = pages
        super().__init__(json.loads(numbers))

    def __str__(self) -> str:
        return self.page

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.page)


class Comparison(Shown):
    """``measures``, ``budget``, ``metrics`` of A and B; ``first`` to look at;
    ``differs``: what else differs, and what can be compared in spite of it."""

    @property
    def first(self) -> str:
        """What to look at first, as a sentence."""
        text: str = self["first"]
        return text


class Scaling(Shown):
    """Every run with its ``efficiency``, and the scaling law that fits, if any."""


class Forecast(Shown):
    """Wall time and thread-seconds; ``ranges`` describes their ranges."""


def compare(a: Any, b: Any) -> Comparison:
    """Compare a run with an earlier one: ``a`` as it was, ``b`` the new one.

    Each is a ``Run``, a collector, the path of a run, or the metrics of a run of this
    process (``get_metrics()``). The ``change`` of a measure is "more", "less", "none",
    or "unknown", with the reason in ``why``, and the gate of the
    program (``roast compare --fail-over``) ends with exit code 5.
    """
    first, second = _run_of(a, "compare"), _run_of(b, "compare")
    names = (_name_of(first, "A"), _name_of(second, "B"))
    return Comparison(_core.compare(first._core, names[0], second._core, names[1]))


def scale(runs: Iterable[Any], mix: bool = False) -> Scaling:
    """The effect of more workers: runs of the same analysis with different numbers of
    workers, in any order, each as for ``compare()``.

    ValueError for runs of different processors, unless they are to be mixed."""
    if isinstance(runs, str | os.PathLike | Run) or not isinstance(runs, Iterable):
        raise TypeError(f"scale() takes a list of runs, not {type(runs).__name__}")
    found = [_run_of(run, "scale") for run in runs]
    if not found:
        raise ValueError("scale() takes at least one run")
    named = enumerate(found, 1)
    pairs = tuple((run._core, _name_of(run, f"run {i}")) for i, run in named)
    try:
        return Scaling(_core.scale(pairs, mix))
    except ValueError as error:
        raise ValueError(f"{error}; mix=True scales them anyway") from None


def forecast(
    run: Any, events: float, workers: float, chunksize: float | None = None
) -> Forecast:
    """How long these events would take on these workers, estimated from ``run``; with
    chunks of ``chunksize`` events, or as in the run."""
    plan = (
        _amount("events", events, 1.0),
        _amount("workers", workers),
        0.0 if chunksize is None else _amount("chunksize", chunksize),
    )
    return Forecast(_core.forecast(_run_of(run, "forecast")._core, *plan))


def _amount(name: str, value: float, least: float = math.ulp(0.0)) -> float:
    number = float(value)
    if not least <= number < math.inf:
        words = "from 1 on" if least == 1 else "above 0"
        text = f"forecast(): {name} cannot be {number:g}: a number {words}"
        raise ValueError(text)
    return number


def _run_of(given: Any, caller: str) -> Run:
    """The run behind an argument, with everything that has arrived."""
    if isinstance(given, str | os.PathLike):
        run: Any = open_run(given)
    else:
        run = getattr(given, "_run" if isinstance(given, Metrics) else "run", None)
    if not isinstance(run, Run):
        what = type(given).__name__
        raise TypeError(f"{caller}() takes runs, paths or metrics of a run, not {what}")
    run._core.sync()
    return run


def _name_of(run: Run, otherwise: str) -> str:
    return str(run.path) if run.path else run._notes.text("processor") or otherwise
