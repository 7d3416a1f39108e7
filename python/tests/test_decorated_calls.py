# SPDX-License-Identifier: BSD-3-Clause
"""A decorated process() takes the arguments it took before and looks like it did."""

from __future__ import annotations

import functools
import inspect

import pytest

from roastcoffea import track_metrics
from support import KEY, Events, make_processor


class Counting:
    """Counts events; off unless switched on."""

    @track_metrics
    def process(self, events, scale=1, *more, factor=1, **others):
        """Count, times two."""
        return {"n": len(events) * scale * factor, "more": more, "others": others}


def measured(output):
    return len(output.get(KEY, []))


@pytest.mark.parametrize("on", [False, True])
def test_arguments_arrive_as_given(on):
    analysis = Counting()
    analysis._roastcoffea_collect_metrics = on
    events = Events()
    output = analysis.process(events, 2, "a", "b", factor=3, extra=4)
    expected = {"n": 60, "more": ("a", "b"), "others": {"extra": 4}}
    assert {key: output[key] for key in expected} == expected
    output = analysis.process(events=events, factor=5)
    assert output["n"] == 50
    if on:
        assert output[KEY][0]["num_events"] == 10


@pytest.mark.parametrize("on", [False, True])
def test_plain_signature_takes_events_by_name(on):
    analysis = make_processor(lambda self, events: {"n": len(events)}, on=on)
    output = analysis.process(events=Events(7))
    assert output["n"] == 7
    assert measured(output) == int(on)


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize("arguments", [(), (1, 2, 3)])
def test_wrong_number_of_arguments_is_a_typeerror(on, arguments):
    analysis = make_processor(lambda self, events: {}, on=on)
    with pytest.raises(TypeError):
        analysis.process(*arguments)


def test_function_keeps_name_doc_and_signature():
    def process(self, events: Events, scale: float = 2.0) -> dict:
        """Documented."""
        return {}

    decorated = track_metrics(process)
    for attribute in functools.WRAPPER_ASSIGNMENTS:
        assert getattr(decorated, attribute) == getattr(process, attribute)
    assert inspect.signature(decorated) == inspect.signature(process)
    assert decorated.__wrapped__ is process
