# SPDX-License-Identifier: BSD-3-Clause
"""A call between two steps of the monitor: none of its frames is on the stack, and
results and exceptions pass unchanged."""

from __future__ import annotations

import ctypes
import functools
import inspect
import itertools
import signal
import sys
import traceback
from pathlib import Path

import pytest

import roastcoffea
from collector_helpers import Failing, Plain, fileset_of, make_runner
from interrupts import Alarm, handled
from roastcoffea import MetricsCollector, _probe

OURS = str(Path(roastcoffea.__file__).parent)


@_probe.frameless_call
class Around:
    """Notes its calls; ``steps`` are errors that the two steps raise."""

    def __init__(self, function, before=None, after=None):
        self.function, self.steps, self.calls = function, (before, after), []
        self.trouble = []

    def before_call(self, args, kwargs, undo):
        if self.steps[0]:
            raise self.steps[0]
        return self.function, args, kwargs, "attempt"

    def after_call(self, attempt, result, error):
        self.calls.append((attempt, result, error))
        if self.steps[1]:
            raise self.steps[1]
        return result

    def note_error(self, error):
        self.trouble.append(error)


def fail(*args, **kwargs):
    raise ValueError(args, kwargs)


def test_arguments_and_results_pass():
    around = Around(lambda *args, **kwargs: (args, kwargs))
    assert around() == ((), {})
    assert around(1, b=2) == ((1,), {"b": 2})
    assert around.calls[1] == ("attempt", ((1,), {"b": 2}), None)


def test_exceptions_pass():
    around = Around(fail)
    with pytest.raises(ValueError, match="'b': 2") as caught:
        around(1, b=2)
    assert around.calls == [("attempt", None, caught.value)]
    assert caught.value.__context__ is None
    names = [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert names == ["test_exceptions_pass", "fail"]


def test_exception_of_after_call_has_a_traceback():
    seen = []
    around = Around(fail)
    around.after_call = lambda attempt, result, error: seen.append(
        traceback.extract_tb(error.__traceback__)[-1].name
    )
    with pytest.raises(ValueError, match=r"\{\}"):
        around()
    assert seen == ["fail"]


@pytest.mark.parametrize(
    ("function", "before", "after", "expected"),
    [
        (len, KeyboardInterrupt(), None, KeyboardInterrupt),
        (fail, None, RuntimeError(), ValueError),  # the user's exception wins
        (fail, None, KeyboardInterrupt(), KeyboardInterrupt),
        (lambda _: 1, None, KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_steps_that_raise(function, before, after, expected):
    with pytest.raises(expected):
        Around(function, before, after)("")


def test_errors_of_the_monitor_are_noted_and_change_nothing():
    trouble = RuntimeError(), MemoryError()
    around = Around(len, *trouble)
    assert around("abc") == 3  # without before_call() there is no after_call()
    assert around.trouble == [trouble[0]]
    around = Around(len, None, trouble[1])
    assert around("abc") == 3
    assert around.trouble == [trouble[1]]


def test_errors_of_steps_after_an_exception_are_noted():
    trouble, undone = RuntimeError(), []
    around = Around(fail, None, trouble)

    def undo_badly(error):
        raise trouble

    def before_call(args, kwargs, undo):
        undo.extend([undo_badly, undone.append])
        return fail, args, kwargs, None

    around.before_call = before_call
    with pytest.raises(ValueError, match="'b': 2") as caught:
        around(b=2)
    assert undone == [caught.value]
    assert around.trouble == [trouble, trouble]


def test_wrong_result_of_before_call_is_noted():
    around = Around(len)
    around.before_call = lambda args, kwargs, undo: (len, ["abc"], {}, None)
    assert around("abc") == 3
    assert [type(error) for error in around.trouble] == [TypeError]
    with pytest.raises(TypeError, match="class"):
        _probe.frameless_call("no class")


def test_error_in_note_error_is_dropped():
    around = Around(len, RuntimeError())
    around.note_error = fail
    assert around("abc") == 3


def raising(*number, result=int):
    """A C function that raises a signal: its handler runs in the step after it."""
    function = getattr(ctypes.CDLL(None), "raise")
    function.restype = result
    return functools.partial(function, *number)


def test_signals_pass_while_an_earlier_handler_runs():
    came = []

    def slow(number, frame):
        signal.raise_signal(signal.SIGUSR2)
        came.append("slow")

    slow_before = signal.signal(signal.SIGUSR1, slow)
    before = signal.signal(signal.SIGUSR2, lambda *_: came.append("meanwhile"))
    try:
        Around(raising(signal.SIGUSR1))()
    finally:
        signal.signal(signal.SIGUSR1, slow_before)
        signal.signal(signal.SIGUSR2, before)
    assert came == ["meanwhile", "slow"]


def test_exception_of_a_handler_keeps_that_of_the_call():
    around = Around(raising(signal.SIGALRM, result=len))  # len() of a number
    with handled(signal.SIGALRM, Alarm()), pytest.raises(Alarm) as caught:
        around()
    assert isinstance(caught.value.__context__, TypeError)
    assert around.calls == [("attempt", None, caught.value)]


@pytest.mark.parametrize("fails", [False, True])
def test_two_handlers_that_raise_before_a_step(fails):
    """The interpreter runs the second one later: not in our step."""
    numbers = signal.SIGUSR1, signal.SIGALRM
    failing = map(len, [0] if fails else [])  # in C: no handler runs meanwhile
    raise_all = map(raising(), itertools.chain(numbers, failing))
    around = Around(functools.partial(list, raise_all))
    with (
        handled(numbers[0], first := Alarm()),
        handled(numbers[1], second := Alarm()),
        pytest.raises(Alarm) as caught,
    ):
        around()
    assert caught.value is second
    assert second.__context__ is first
    assert isinstance(first.__context__, TypeError) is fails
    assert around.calls == [("attempt", None, second)]
    assert around.trouble == []


def test_it_has_a_signature():
    assert str(inspect.signature(Around(len))) == "(*args, **kwargs)"


def test_calls_keep_no_references():
    value = object()
    around = Around(lambda given, **kwargs: given)
    around.after_call = lambda attempt, result, error: result
    before = sys.getrefcount(value)
    for _ in range(100):
        around(value, other=value)
    assert sys.getrefcount(value) == before


class StackProcessor(Plain):
    """Returns the stack, the innermost frame first."""

    def process(self, events):
        frame, found = sys._getframe(), []
        while frame:
            found.append((frame.f_code.co_name, frame.f_code.co_filename))
            frame = frame.f_back
        return {"stack": found}


def are_ours(frames):
    """Files of ours from where coffea tries a chunk on."""
    names = [name for name, _ in frames]
    tried = names[: names.index("automatic_retries")]
    assert "_work_function" in tried
    return [file for _, file in frames[: len(tried)] if file.startswith(OURS)]


def test_no_frame_of_ours_is_on_the_stack(tiny_file):
    with MetricsCollector() as collector:
        runner = make_runner(maxchunks=1)
        output = runner(fileset_of(tiny_file), StackProcessor())
    assert len(collector.chunk_metrics) == 1
    assert are_ours(output["stack"]) == []


def test_no_frame_of_ours_is_in_a_traceback(tiny_file):
    with MetricsCollector(), pytest.raises(Exception, match="mine") as caught:
        make_runner()(fileset_of(tiny_file), Failing(ValueError("mine")))
    found = [
        (frame.name, frame.filename)
        for error in (caught.value, caught.value.__cause__)
        for frame in traceback.extract_tb(error.__traceback__ if error else None)
    ]
    assert are_ours(found[::-1]) == []
