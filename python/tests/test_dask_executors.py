# SPDX-License-Identifier: BSD-3-Clause
"""Executors and Runners that are not quite as coffea makes them: they do what they did,
and what can be measured is."""

from __future__ import annotations

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

from clusters import dask_runner, on_dask
from collector_helpers import CHUNKS, Measured, fileset_of, iterative
from roastcoffea import monitor
from roastcoffea.dask.runner import DaskCall


class Labelled(processor.DaskExecutor):
    """Has an attribute that its class does not take, and knows how to copy itself."""

    label = ""

    def copy(self, **kwargs):
        fields = {name: vars(self)[name] for name in vars(self) if name != "label"}
        copied = type(self)(**fields | kwargs)
        copied.label = self.label
        return copied

    def __call__(self, items, function, accumulator):
        assert self.label == "mine"
        return super().__call__(items, function, accumulator)


class Slotted(processor.DaskExecutor):
    __slots__ = ("label",)


class Called:
    """What a call needs of a run."""

    def __init__(self):
        self.errors = []

    def note_error(self, where, error):
        self.errors.append(f"{where}: {error}")


def test_executor_with_attributes_of_its_own_is_measured(tiny_file):
    executor = Labelled(client=None, status=False)
    executor.label = "mine"
    runner = dask_runner(None, executor=executor)
    with monitor() as run:
        runner(fileset_of(tiny_file), processor_instance=Measured())
    metrics = run.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["peak_workers"] >= 1
    assert runner.executor is executor
    assert type(executor) is Labelled
    assert executor.client is None


@pytest.mark.parametrize("kind", [processor.DaskExecutor, Slotted])
def test_executor_is_copied_whole_or_left_alone(kind):
    called = Called()
    runner = dask_runner(None, executor=on_dask(None))
    runner.executor = executor = kind(status=False)
    used = DaskCall([called], runner, print).replaced(executor)
    if kind is Slotted:
        assert used is executor
        assert called.errors == ["copy of an executor: an executor with slots"]
    else:
        assert vars(used) == vars(executor)
        assert isinstance(used, kind)
        assert called.errors == []


class Deriving(processor.Runner):
    """Keeps one of its executors elsewhere."""

    @property
    def pre_executor(self):
        return vars(self).get("_kept") or self.executor

    @pre_executor.setter
    def pre_executor(self, value):
        vars(self)["_kept"] = value


def test_runner_that_keeps_an_executor_elsewhere_is_measured(tiny_file):
    runner = Deriving(iterative(), schema=BaseSchema)
    with monitor() as run:
        runner(fileset_of(tiny_file), processor_instance=Measured())
    metrics = run.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["num_successful_chunks"] >= 1
