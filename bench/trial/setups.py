# SPDX-License-Identifier: BSD-3-Clause
"""What a run of the trial is made of, and the run itself."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any

from coffea.nanoevents import BaseSchema
from coffea.processor import Runner

from roastcoffea import MetricsCollector
from trial.analyses import Analysis, Step, read_one, small_task
from trial.files import Fileset
from trial.places import ITERATIVE, Opened, Place, Places

CALL = "output = runner(fileset, processor_instance=analysis)"

Hook = Callable[[Opened], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Setup:
    """All that advice may change."""

    place: Place = ITERATIVE
    fileset: Fileset = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    chunksize: int = 1_000_000
    runner: dict[str, Any] = field(default_factory=dict)  # more options
    executor: dict[str, Any] = field(default_factory=dict)
    ahead: tuple[Hook, ...] = ()  # entered before the block
    inside: tuple[Hook, ...] = ()  # entered in the block, and left before its end
    code: str = CALL  # its last statement is executed in the block
    names: dict[str, Any] = field(default_factory=dict)  # that the code may use
    is_warm: bool = True  # workers have done such chunks before, files are known
    is_fresh: bool = False  # workers that no run has used, but to warm up
    fails: str = ""  # the run raises, and this is in the message


@dataclass
class Result:
    """What a run was like."""

    metrics: dict[str, Any]
    output: Any

    @property
    def wall_s(self) -> float:
        return float(self.metrics["wall_time"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        return list(self.metrics["findings"])

    @property
    def slices(self) -> list[tuple[str, float, float]]:
        """Of the budget, the largest first: name, seconds, percent."""
        offered_s = self.metrics["offered_thread_seconds"]
        rows = sorted(self.metrics["budget"].items(), key=lambda row: -row[1])
        return [(name, s, s / offered_s * 100) for name, s in rows if s > 0]


def make_runner(setup: Setup, opened: Opened) -> Runner:
    options = {"schema": BaseSchema, "savemetrics": True} | setup.runner
    executor = opened.executor(**setup.executor)
    return Runner(executor, chunksize=setup.chunksize, **options)


def warm_up(setup: Setup, opened: Opened) -> None:
    """Workers import, and coffea's cache knows the files.

    A few chunks are enough. They read a column, which imports what reading needs.
    """
    if not setup.fileset:
        opened.client.gather(opened.client.map(small_task, range(20), pure=False))
        return
    list(make_runner(setup, opened).preprocess(setup.fileset))
    quick = dataclasses.replace(setup, runner=setup.runner | {"maxchunks": 4})
    runner = make_runner(quick, opened)
    runner(setup.fileset, processor_instance=Analysis(read_one))


def run(setup: Setup, places: Places) -> Result:
    """One run in a block of its own."""
    opened = places.at(setup.place, setup.is_fresh)
    if setup.is_warm:
        warm_up(setup, opened)
    if not setup.is_warm:
        setup.runner["metadata_cache"] = {}
    names = setup.names | {
        "runner": make_runner(setup, opened) if setup.fileset else None,
        "client": opened.client,
        "fileset": setup.fileset,
        "analysis": Analysis(*setup.steps),
        "output": None,
    }
    *first, last = setup.code.split("; ")
    with ExitStack() as around:
        for hook in setup.ahead:
            around.enter_context(hook(opened))
        for statement in first:
            exec(statement, names)
        collector = MetricsCollector(
            opened.client or make_runner(setup, opened).executor
        )
        with expected(setup.fails), collector, ExitStack() as within:
            for hook in setup.inside:
                within.enter_context(hook(opened))
            exec(last, names)
    metrics = collector.get_metrics()
    if metrics["monitor_errors"]:
        raise RuntimeError(f"monitor: {metrics['monitor_first_error']}")
    return Result(metrics, names["output"])


@contextlib.contextmanager
def expected(error: str) -> Any:
    """A block that must fail with this error, or must not."""
    if not error:
        yield
        return
    try:
        yield
    except Exception as exception:
        if error not in str(exception):
            raise
    else:
        raise RuntimeError(f"the run did not fail with {error!r}")
