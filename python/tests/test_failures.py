# SPDX-License-Identifier: BSD-3-Clause
"""A failing chunk: the user gets the very exception, the record says what and where."""

from __future__ import annotations

import traceback

import pytest

from roastcoffea import track_memory, track_metrics, track_time
from support import CountedEvents, Events, fail, make_processor, measure, waiting

ERRORS = [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError]
errors = pytest.mark.parametrize("error", ERRORS)


class Outage(Exception):
    """An exception of a user's module."""


def nested(raised):
    """Work that raises two sections deep."""

    def work(self, events):
        with track_time(self, "done"):
            pass
        with track_time(self, "selection"), track_memory(self, "jets"):
            raise raised

    return work


@errors
def test_the_very_exception_reaches_the_user(error):
    raised = error("mine")
    seen, _ = fail(nested(raised))
    assert seen is raised
    assert seen.args == ("mine",)
    assert seen.__context__ is None
    assert seen.__cause__ is None
    frames = [frame.name for frame in traceback.extract_tb(seen.__traceback__)]
    assert frames[-1] == "work"
    assert frames.count("work") == 1


@errors
def test_record_has_error_and_section(error):
    _, record = fail(nested(error("mine")))
    assert record["status"] == "failed"
    assert record["error"] == f"{error.__name__}: mine"
    assert record["error_type"] == error.__name__
    assert record["error_message"] == "mine"
    assert record["error_section"] == "selection/jets"


@errors
def test_failed_chunk_is_measured_like_any_other(error):
    _, record = fail(nested(error()), Events(7))
    assert record["num_events"] == 7
    assert record["dataset"] == "ttbar"
    assert 0 < record["timing"]["done"] < record["duration"]
    assert set(record["timing"]) == {"done", "selection"}
    assert set(record["memory"]) == {"jets"}
    assert record["t_start"] <= record["t_end"]
    assert not record["losses"]


def test_next_chunk_is_not_touched_by_the_failure():
    fail(nested(ValueError("mine")))
    record = measure(lambda *_: None)
    assert record["status"] == "ok"
    assert record["sections"] == []
    assert not {"error", "error_type", "error_message", "error_section"} & set(record)


def test_failure_outside_sections_names_none():
    def work(self, events):
        with track_time(self, "done"):
            pass
        raise ValueError("mine")

    _, record = fail(work)
    assert "error_section" not in record


def test_exception_of_a_module_is_named_with_it():
    _, record = fail(nested(Outage("mine")))
    assert record["error_type"] == f"{__name__}.Outage"
    assert record["error"] == f"{__name__}.Outage: mine"


def test_exception_without_text_is_named_alone():
    _, record = fail(nested(ValueError()))
    assert record["error_type"] == "ValueError"
    assert record["error"].startswith("ValueError")


def test_interrupt_while_the_exception_is_named_is_not_lost():
    class Slow(Exception):
        def __str__(self):
            raise KeyboardInterrupt("mine")

    raised = Slow()
    seen, record = fail(nested(raised))
    assert type(seen) is KeyboardInterrupt
    assert seen.__context__ is raised
    assert record["error_type"].endswith("Slow")


def test_exception_with_a_broken_str_is_named_alone():
    class Unspeakable(Exception):
        def __str__(self):
            raise ValueError("in __str__")

    raised = Unspeakable()
    seen, record = fail(nested(raised))
    assert seen is raised
    assert seen.__context__ is None
    assert record["error_type"].endswith("Unspeakable")
    assert "error_message" not in record


def test_exception_of_an_odd_module_does_no_harm():
    class Homeless(Exception):
        __module__ = 7

    raised = Homeless("mine")
    seen, record = fail(nested(raised))
    assert seen is raised
    assert record["error"].endswith("Homeless: mine")


@pytest.mark.parametrize("text", ["\udc80", "π" * 10**6, "a\0b\n\x1b[31m"])
def test_any_text_of_an_exception_does_no_harm(text):
    raised = ValueError(text)
    seen, record = fail(nested(raised))
    assert seen is raised
    assert len(record["error_message"].encode()) <= 512


# ---- which section -----------------------------------------------------------------


def test_exception_raised_after_a_handled_one_has_its_own_section():
    def work(self, events):
        try:
            with track_time(self, "first"):
                raise ValueError("handled")
        except ValueError:
            pass
        with track_time(self, "second"):
            raise ValueError("mine")

    _, record = fail(work)
    assert record["error_section"] == "second"
    assert record["error_message"] == "mine"


def test_handled_exception_leaves_no_section_for_a_later_one():
    """The first is freed, so the second may well live at the same address."""

    def work(self, events):
        try:
            with track_time(self, "first"):
                raise ValueError("handled")
        except ValueError:
            pass
        raise ValueError("mine")

    for _ in range(10):
        _, record = fail(work)
        assert "error_section" not in record


def test_exception_raised_while_handling_another_keeps_its_context():
    first = KeyError("first")

    def work(self, events):
        with track_time(self, "handler"):
            try:
                with track_time(self, "work"):
                    raise first
            except KeyError:
                raise ValueError("second")  # noqa: B904

    seen, record = fail(work)
    assert seen.__context__ is first
    assert record["error_type"] == "ValueError"
    assert record["error_section"] == "handler"


def test_exception_raised_again_keeps_the_innermost_section():
    def work(self, events):
        with track_time(self, "outer"):
            try:
                with track_time(self, "inner"):
                    raise ValueError("mine")
            except ValueError:
                raise

    _, record = fail(work)
    assert record["error_section"] == "outer/inner"


def test_exception_being_handled_by_the_caller_stays_the_context():
    """process() called in an except block, as Python would have it."""
    outer = KeyError("outer")
    analysis = make_processor(nested(ValueError("mine")))
    try:
        raise outer
    except KeyError:
        with pytest.raises(ValueError, match="mine") as seen:
            analysis.process(Events())
    assert seen.value.__context__ is outer


def test_failure_in_a_decorated_super_is_where_it_happened():
    class Base:
        @track_metrics
        def process(self, events):
            with track_time(self, "selection"):
                raise ValueError("mine")

    class Derived(Base):
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            with track_time(self, "prepare"):
                return super().process(events)

    with pytest.raises(ValueError, match="mine"):
        Derived().process(Events())
    (record,) = waiting()
    section = record["error_section"].replace(Base.process.__qualname__, "Base.process")
    assert section == "prepare/Base.process/selection"


def test_failure_of_a_decorated_super_itself_names_it():
    class Base:
        @track_metrics
        def process(self, events):
            raise ValueError("mine")

    class Derived(Base):
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            return super().process(events)

    with pytest.raises(ValueError, match="mine"):
        Derived().process(Events())
    (record,) = waiting()
    assert record["error_section"] == Base.process.__qualname__


class Source:
    """A byte counter that is read by running Python code, as uproot's is."""

    @property
    def num_requested_bytes(self):
        return 5


def interrupted(self, events):
    """Leaves a value whose repr() is interrupted, when process() is over already."""

    class Interrupting:
        def __repr__(self):
            raise KeyboardInterrupt("mine")

    self._roastcoffea_current_chunk["mine"] = Interrupting()
    return {"n": 1}


@pytest.mark.parametrize("events", [Events(), CountedEvents(Source())])
def test_interrupt_while_our_own_work_runs_is_the_users(events):
    with pytest.raises(KeyboardInterrupt, match="mine"):
        make_processor(interrupted).process(events)


@pytest.mark.parametrize("events", [Events(), CountedEvents(Source())])
def test_chunk_interrupted_in_our_own_work_has_a_record(events):
    with pytest.raises(BaseException):  # noqa: B017, PT011 - the test above says which
        make_processor(interrupted).process(events)
    (record,) = waiting()
    assert record["num_events"] == 10
