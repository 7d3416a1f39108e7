# SPDX-License-Identifier: BSD-3-Clause
"""Decorated functions that no Runner has switched on, with a callable that is called in
their place: what a Dask worker does, without Dask."""

from __future__ import annotations

import pickle
import sys

import cloudpickle
import pytest

from pickled_code import make_local, make_local_function
from roastcoffea import _probe, track_metrics
from support import KEY, Events, make_processor


@pytest.fixture
def calls():
    """The calls that the callable got; it makes each of them unchanged."""
    calls = []

    def call(func, args, kwargs, is_method):
        calls.append((func, args, kwargs, is_method))
        return func(*args, **(kwargs or {}))

    _probe.set_unswitched_call(call)
    yield calls
    _probe.set_unswitched_call(None)


def test_function_is_called_directly_without_a_callable():
    assert not _probe.user_functions
    assert make_local_function()(Events()) == {"n": 10}
    assert _probe.user_functions.run_unswitched(len, ([1],), None, False) == 1


def test_functions_and_methods_that_are_not_switched_on(calls):
    assert _probe.user_functions
    events = Events()
    function, analysis = make_local_function(), make_local()()
    assert function(events) == analysis.process(events) == {"n": 10}
    (first, second) = calls
    assert first[1:] == ((events,), {}, False)
    assert second[1:] == ((analysis, events), None, True)
    assert first[0] is function.__wrapped__


def test_functions_with_an_open_signature(calls):
    class Open:
        @track_metrics
        def process(*args, **kwargs):
            return len(args)

    made = Open()
    assert made.process(1) == 2
    assert calls[0][1:] == ((made, 1), {}, True)
    assert track_metrics(max)([1, 2]) == 2
    assert calls[1][1:] == (([1, 2],), {}, False)


@pytest.mark.parametrize("value", [False, 0])
def test_functions_that_the_user_switched_off(calls, value):
    function, analysis = make_local_function(), make_local()()
    function._roastcoffea_collect_metrics = value
    analysis._roastcoffea_collect_metrics = value
    assert function(Events()) == analysis.process(Events()) == {"n": 10}
    assert calls == []


def test_functions_that_are_switched_on_are_measured_directly(calls):
    function = make_local_function()
    function._roastcoffea_collect_metrics = True
    assert len(function(Events())[KEY]) == 1
    assert calls == []


def test_call_inside_a_chunk_is_a_part_of_it(calls):
    inner = make_local_function()
    analysis = make_processor(lambda self, events: inner(events))
    (record,) = analysis.process(Events())[KEY]
    assert "time" in record["timing"]
    assert calls == []


def test_call_inside_an_attempt_is_its_chunk(calls):
    nothing = (None, None, None, None, None, None)
    _probe.attempt_begin(bytes(16), 0, (), nothing)
    try:
        assert make_local_function()(Events()) == {"n": 10}
    finally:
        frames = _probe.attempt_end(0, (), None)
    assert [record.kind for record in _probe.read_frames(frames)] == ["chunk", "end"]
    assert calls == []


def test_item_of_an_attempt_may_name_the_worker():
    item = ("ttbar", "/a.root", "Events", None, 5, 9, "tcp://host:1", 0.25)
    _probe.attempt_begin(bytes(16), 0, (), item)
    frames = _probe.attempt_end(0, (), ValueError("no"))
    chunk, end = _probe.read_frames(frames)
    assert chunk["worker"] == "tcp://host:1"
    assert end["task_time"] >= 0.25


@pytest.mark.parametrize("ago", [-1.0, float("nan"), float("inf"), 1e300])
def test_impossible_start_times_are_dropped(ago):
    item = (None, None, None, None, None, None, None, ago)
    _probe.attempt_begin(bytes(16), 0, (), item)
    (end,) = _probe.read_frames(_probe.attempt_end(0, (), None))
    assert end["task_time"] < 1e4


def test_monitor_that_is_off_calls_directly(calls):
    function = make_local_function()
    _probe.configure(enabled=False)
    assert function(Events()) == {"n": 10}
    assert calls == []


def test_exception_of_the_function_is_raised(calls):
    @track_metrics
    def fail(events):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail(Events())


def test_pickled_function_uses_the_callable(calls):
    again = pickle.loads(cloudpickle.dumps(make_local_function()))
    assert again(Events()) == {"n": 10}
    assert len(calls) == 1


def test_calls_keep_nothing_alive(calls):
    function, events = make_local_function(), Events()
    function(events)
    calls.clear()
    before = sys.getrefcount(events), sys.getrefcount(_probe.user_functions)
    for _ in range(10_000):
        function(events)
        calls.clear()
    assert (sys.getrefcount(events), sys.getrefcount(_probe.user_functions)) == before


@pytest.mark.parametrize("args", [(), (len,), (len, [1], None, False)])
def test_wrong_arguments_are_refused(args):
    with pytest.raises(TypeError):
        _probe.user_functions.run_unswitched(*args)
