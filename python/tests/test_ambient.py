# SPDX-License-Identifier: BSD-3-Clause
"""Decorated functions that nobody has switched on, while somebody is asked about them:
what a worker of Dask does, without Dask."""

from __future__ import annotations

import pickle
import sys

import cloudpickle
import pytest

from roastcoffea import _probe, track_metrics
from support import KEY, Events, make_processor
from travelling import make_local, make_local_function


@pytest.fixture
def asked():
    """The calls that were asked about; each is then made as it is."""
    calls = []

    def ask(func, args, kwargs, is_method):
        calls.append((func, args, kwargs, is_method))
        return func(*args, **(kwargs or {}))

    _probe.ambient_ask(ask)
    yield calls
    _probe.ambient_ask(None)


def test_nobody_is_asked_unless_there_is_somebody():
    assert not _probe.front
    assert make_local_function()(Events()) == {"n": 10}
    assert _probe.front.run_ambient(len, ([1],), None, False) == 1


def test_functions_and_methods_that_are_not_switched_on(asked):
    assert _probe.front
    events = Events()
    function, analysis = make_local_function(), make_local()()
    assert function(events) == analysis.process(events) == {"n": 10}
    (first, second) = asked
    assert first[1:] == ((events,), {}, False)
    assert second[1:] == ((analysis, events), None, True)
    assert first[0] is function.__wrapped__


def test_functions_that_do_not_say_what_they_take(asked):
    class Open:
        @track_metrics
        def process(*args, **kwargs):
            return len(args)

    made = Open()
    assert made.process(1) == 2
    assert asked[0][1:] == ((made, 1), {}, True)
    assert track_metrics(max)([1, 2]) == 2
    assert asked[1][1:] == (([1, 2],), {}, False)


@pytest.mark.parametrize("value", [False, 0])
def test_what_the_user_has_switched_off_stays_off(asked, value):
    function, analysis = make_local_function(), make_local()()
    function._roastcoffea_collect_metrics = value
    analysis._roastcoffea_collect_metrics = value
    assert function(Events()) == analysis.process(Events()) == {"n": 10}
    assert asked == []


def test_what_is_switched_on_is_measured_as_ever(asked):
    function = make_local_function()
    function._roastcoffea_collect_metrics = True
    assert len(function(Events())[KEY]) == 1
    assert asked == []


def test_call_inside_a_chunk_is_a_part_of_it(asked):
    inner = make_local_function()
    analysis = make_processor(lambda self, events: inner(events))
    (record,) = analysis.process(Events())[KEY]
    assert "time" in record["timing"]
    assert asked == []


def test_call_inside_an_attempt_is_its_chunk(asked):
    nothing = (None, None, None, None, None, None)
    _probe.attempt_begin(bytes(16), 0, (), nothing)
    try:
        assert make_local_function()(Events()) == {"n": 10}
    finally:
        frames = _probe.attempt_end(0, (), None)
    assert [record.kind for record in _probe.read_frames(frames)] == ["chunk", "end"]
    assert asked == []


def test_item_of_an_attempt_may_name_the_worker():
    item = ("ttbar", "/a.root", "Events", None, 5, 9, "tcp://host:1", 0.25)
    _probe.attempt_begin(bytes(16), 0, (), item)
    frames = _probe.attempt_end(0, (), ValueError("no"))
    chunk, end = _probe.read_frames(frames)
    assert chunk["worker"] == "tcp://host:1"
    assert end["task_time"] >= 0.25


@pytest.mark.parametrize("ago", [-1.0, float("nan"), float("inf"), 1e300])
def test_clock_that_was_set_says_nothing_of_the_begin(ago):
    item = (None, None, None, None, None, None, None, ago)
    _probe.attempt_begin(bytes(16), 0, (), item)
    (end,) = _probe.read_frames(_probe.attempt_end(0, (), None))
    assert end["task_time"] < 1e4


def test_nothing_is_asked_when_the_monitor_is_off(asked):
    function = make_local_function()
    _probe.configure(enabled=False)
    assert function(Events()) == {"n": 10}
    assert asked == []


def test_exception_of_the_function_is_the_one_that_is_raised(asked):
    @track_metrics
    def fail(events):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail(Events())


def test_function_that_travelled_is_asked_about(asked):
    again = pickle.loads(cloudpickle.dumps(make_local_function()))
    assert again(Events()) == {"n": 10}
    assert len(asked) == 1


def test_calls_keep_nothing_alive(asked):
    function, events = make_local_function(), Events()
    function(events)
    asked.clear()
    before = sys.getrefcount(events), sys.getrefcount(_probe.front)
    for _ in range(10_000):
        function(events)
        asked.clear()
    assert (sys.getrefcount(events), sys.getrefcount(_probe.front)) == before


def test_library_keeps_one_object():
    before = _probe.ambient_shelved()
    kept = object()
    try:
        _probe.ambient_shelve(kept)
        assert _probe.ambient_shelved() is kept
        _probe.ambient_shelve(None)
        assert _probe.ambient_shelved() is None
    finally:
        _probe.ambient_shelve(before)
    assert sys.getrefcount(kept) == 2


@pytest.mark.parametrize("args", [(), (len,), (len, [1], None, False)])
def test_wrong_arguments_are_refused(args):
    with pytest.raises(TypeError):
        _probe.front.run_ambient(*args)
