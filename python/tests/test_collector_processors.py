# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of processor that coffea takes, every kind of postprocess, checkpoints and
traces: measured, with the result of an unmeasured run."""

from __future__ import annotations

import functools

import pytest
from coffea import processor

import roastcoffea
from collector_helpers import (
    CHUNKS,
    EVENTS,
    Measured,
    Plain,
    Surroundings,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    starts,
    threads,
)
from roastcoffea import track_metrics, track_time
from support import KEY, waiting

pool = pytest.fixture(scope="module", name="pool")(open_pool)
EXECUTORS = {"iterative": iterative, "threads": threads, "processes": processes}


@pytest.fixture(params=EXECUTORS)
def executor(request):
    if request.param == "processes":
        return processes(request.getfixturevalue("pool"), retries=0)
    return EXECUTORS[request.param](retries=0)


@track_metrics
def function(events):
    return Plain().process(events)


@track_metrics
def function_with_option(events, option):
    assert option == "mine"
    return Plain().process(events)


class Forgetful(Measured):
    """Does not send the switch along."""

    def __init__(self):
        self.cut = 30.0

    def __getstate__(self):
        return {"cut": self.cut}


class Reduced(Measured):
    """Is made anew wherever it arrives."""

    def __reduce__(self):
        return Reduced, ()


class Slotted(Measured):
    """Has attributes of its own beside a dict."""

    __slots__ = ("cut",)


class Callable:
    """No ProcessorABC: coffea calls it."""

    @track_metrics
    def __call__(self, events):
        with track_time(self, "sum"):
            return Plain().process(events)


class Derived(Measured):
    """Calls a decorated super().process()."""

    @track_metrics
    def process(self, events):
        return super().process(events)


PROCESSORS = {
    "class": Measured,
    "function": lambda: function,
    "partial": lambda: functools.partial(function_with_option, option="mine"),
    "bound method": lambda: Measured().process,
    "__getstate__": Forgetful,
    "__reduce__": Reduced,
    "__slots__": Slotted,
    "callable object": Callable,
    "decorated super": Derived,
    "from a function": lambda: made_in_a_function()(),
}


def made_in_a_function():
    """A class that pickles by value only, as one of a notebook does."""

    class Local(processor.ProcessorABC):
        @track_metrics
        def process(self, events):
            with track_time(self, "sum"):
                return {"n": len(events), "sum": float(len(events))}

        def postprocess(self, accumulator):
            return None

    return Local


@pytest.mark.parametrize("compression", [1, None])
@pytest.mark.parametrize("kind", PROCESSORS)
def test_every_kind_of_processor_is_measured(kind, compression, executor, tiny_file):
    analysis = PROCESSORS[kind]()
    runner = make_runner(executor, processor_compression=compression)
    plain = runner(fileset_of(tiny_file), processor_instance=analysis)
    assert KEY not in plain
    around = Surroundings(runner, analysis)
    with roastcoffea.MetricsCollector() as collector:
        output = runner(fileset_of(tiny_file), processor_instance=analysis)
    around.check()
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    assert {record["num_events"] for record in collector.chunk_metrics} == {1000}
    assert starts(output[KEY]) == [0, 1000, 2000]
    assert collector.get_metrics()["monitor_first_error"] == ""
    assert collector.get_metrics()["losses"] == {}
    assert collector.extract_metrics_from_output(output) == plain
    assert waiting() == []


def test_records_are_on_whatever_the_user_has_in_hand(tiny_file):
    analysis = Measured()
    with roastcoffea.MetricsCollector():
        make_runner()(fileset_of(tiny_file), processor_instance=analysis.process)
    assert starts(analysis._chunk_metrics) == [0, 1000, 2000]
    assert not hasattr(Measured.process, "_chunk_metrics")


def test_class_without_a_dict_runs_unmeasured_but_counted(tiny_file):
    class Bare:
        __slots__ = ()

        def __call__(self, events):
            return {"n": len(events)}

    runner = make_runner(processor_compression=None)
    with roastcoffea.MetricsCollector() as collector:
        assert runner(fileset_of(tiny_file), Bare()) == {"n": EVENTS}
    assert collector.get_metrics()["total_events"] == EVENTS
    assert collector.get_metrics()["num_attempts"] == CHUNKS


def test_class_as_a_processor_is_counted(tiny_file):
    """coffea calls it with events."""

    class Output(dict):
        def __init__(self, events):
            super().__init__(n=len(events))

    runner = make_runner(processor_compression=None)
    with roastcoffea.MetricsCollector() as collector:
        runner(fileset_of(tiny_file), processor_instance=Output)
    assert collector.get_metrics()["num_attempts"] == CHUNKS
    assert collector.get_metrics()["monitor_first_error"] == ""
