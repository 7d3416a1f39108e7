# SPDX-License-Identifier: BSD-3-Clause
"""A call with steps of ours around it: no frame of ours is on the stack meanwhile, and
results and exceptions pass as they are."""

from __future__ import annotations

import inspect
import sys
import traceback
from pathlib import Path

import pytest

import roastcoffea
from collecting import Failing, Plain, fileset_of, make_runner
from roastcoffea import MetricsCollector, _probe

OURS = str(Path(roastcoffea.__file__).parent)


@_probe.surround
class Around:
    """Notes what it is told; ``steps`` may fail."""

    def __init__(self, function, entered=None, left=None):
        self.function, self.steps, self.told = function, (entered, left), []
        self.trouble = []

    def entered(self, args, kwargs):
        if self.steps[0]:
            raise self.steps[0]
        return self.function, args, kwargs, "attempt"

    def left(self, attempt, result, error):
        self.told.append((attempt, result, error))
        if self.steps[1]:
            raise self.steps[1]
        return result

    def noted(self, error):
        self.trouble.append(error)


def fail(*args, **kwargs):
    raise ValueError(args, kwargs)


def test_arguments_and_results_pass():
    around = Around(lambda *args, **kwargs: (args, kwargs))
    assert around() == ((), {})
    assert around(1, b=2) == ((1,), {"b": 2})
    assert around.told[1] == ("attempt", ((1,), {"b": 2}), None)


def test_exceptions_pass():
    around = Around(fail)
    with pytest.raises(ValueError, match="'b': 2") as caught:
        around(1, b=2)
    assert around.told == [("attempt", None, caught.value)]
    assert caught.value.__context__ is None
    names = [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert names == ["test_exceptions_pass", "fail"]


def test_what_left_is_told_has_a_traceback():
    seen = []
    around = Around(fail)
    around.left = lambda attempt, result, error: seen.append(
        traceback.extract_tb(error.__traceback__)[-1].name
    )
    with pytest.raises(ValueError, match=r"\{\}"):
        around()
    assert seen == ["fail"]


@pytest.mark.parametrize(
    ("function", "entered", "left", "expected"),
    [
        (len, KeyboardInterrupt(), None, KeyboardInterrupt),
        (fail, None, RuntimeError(), ValueError),  # the user's comes first
        (fail, None, KeyboardInterrupt(), KeyboardInterrupt),
        (lambda _: 1, None, KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_steps_that_raise(function, entered, left, expected):
    with pytest.raises(expected):
        Around(function, entered, left)("")


def test_failures_of_ours_are_noted_and_change_nothing():
    trouble = RuntimeError(), MemoryError()
    around = Around(len, *trouble)
    assert around("abc") == 3  # nothing was entered, so nothing is left
    assert around.trouble == [trouble[0]]
    around = Around(len, None, trouble[1])
    assert around("abc") == 3
    assert around.trouble == [trouble[1]]


def test_what_is_no_call_is_noted_too():
    around = Around(len)
    around.entered = lambda args, kwargs: (len, ["abc"], {}, None)
    assert around("abc") == 3
    assert [type(error) for error in around.trouble] == [TypeError]
    with pytest.raises(TypeError, match="class"):
        _probe.surround("no class")


def test_a_noting_that_fails_is_forgotten():
    around = Around(len, RuntimeError())
    around.noted = fail
    assert around("abc") == 3


def test_it_has_a_signature():
    assert str(inspect.signature(Around(len))) == "(*args, **kwargs)"


def test_nothing_is_kept():
    value = object()
    around = Around(lambda given, **kwargs: given)
    around.left = lambda attempt, result, error: result
    before = sys.getrefcount(value)
    for _ in range(100):
        around(value, other=value)
    assert sys.getrefcount(value) == before


class Looking(Plain):
    """Tells who is on the stack, the innermost first."""

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
        output = runner(fileset_of(tiny_file), Looking())
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
