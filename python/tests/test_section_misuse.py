# SPDX-License-Identifier: BSD-3-Clause
"""Sections outside a chunk, left by exceptions, ended late, twice or elsewhere: no
exception of ours, no wrong sum, always counted."""

from __future__ import annotations

import threading

import pytest

from roastcoffea import track_bytes, track_memory, track_section, track_time
from support import CountedEvents, Events, fail, measure, waiting

TRACKERS = {
    "track_time": track_time,
    "track_section": track_section,
    "track_memory": track_memory,
    "track_bytes": lambda self, name: track_bytes(self, CountedEvents(), name),
}
trackers = pytest.mark.parametrize("track", TRACKERS.values(), ids=TRACKERS)


def counts(record):
    return {s["section_name"]: s["count"] for s in record["sections"]}


@trackers
def test_outside_a_chunk_they_do_nothing(track):
    for processor in (None, object(), Events()):
        with track(processor, "outside"):
            pass
    record = measure(lambda *_: None)
    assert record["sections"] == record["memory_sections"] == []
    assert record["bytes"] == {}
    assert waiting() == []


@trackers
def test_section_made_outside_is_nothing_inside(track):
    section = track(None, "outside")

    def work(self, events):
        with section:
            pass

    record = measure(work)
    assert record["sections"] == record["memory_sections"] == []


@trackers
def test_section_made_inside_is_nothing_outside(track):
    kept = []
    measure(lambda self, events: kept.append(track(self, "inside")))
    with kept[0]:
        pass
    assert waiting() == []


@trackers
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_exceptions_pass_through(track, error):
    raised = error("mine")

    def work(self, events):
        with track(self, "section"):
            raise raised

    seen, _ = fail(work)
    assert seen is raised
    with pytest.raises(error) as outside, track(None, "outside"):
        raise raised
    assert outside.value is raised


@trackers
def test_with_gives_the_context_and_swallows_nothing(track):
    def work(self, events):
        section = track(self, "section")
        with section as entered:
            assert entered is section
        assert not section.__exit__(None, None, None)

    measure(work)
    nothing = track(None, "outside")
    assert nothing.__enter__() is nothing
    assert not nothing.__exit__(ValueError, ValueError(), None)


def test_handled_exception_leaves_the_sums_right():
    def work(self, events):
        for n in range(4):
            try:
                with track_time(self, "try"):
                    if n % 2:
                        raise ValueError(n)
            except ValueError:
                pass

    record = measure(work)
    assert counts(record) == {"try": 4}
    assert record["status"] == "ok"


def steps(self):
    """A generator with a section open at each yield."""
    with track_time(self, "generator"):
        yield 1
        yield 2


def test_generator_ended_inside_another_section_is_counted():
    def work(self, events):
        generator = steps(self)
        next(generator)
        with track_time(self, "other"):
            generator.close()
        with track_time(self, "after"):
            pass

    record = measure(work)
    assert counts(record) == {"generator": 1, "other": 1, "after": 1}
    assert record["losses"]["section_misuse"] >= 1
    assert {s["section_name"]: s["depth"] for s in record["sections"]}["after"] == 0


def test_generator_left_half_way_ends_with_the_chunk():
    kept = []

    def work(self, events):
        kept.append(steps(self))
        next(kept[0])

    record = measure(work)
    assert counts(record) == {"generator": 1}
    assert record["losses"] == {"section_misuse": 1}
    (section,) = record["sections"]
    assert section["time_delta"] <= record["duration"] + 1e-4
    kept[0].close()  # here, not whenever garbage is collected: in a later chunk


def test_generator_of_an_earlier_chunk_does_not_touch_a_later_one():
    kept = []

    def first(self, events):
        kept.append(steps(self))
        next(kept[0])

    def second(self, events):
        with track_time(self, "mine"):
            kept[0].close()

    measure(first)
    record = measure(second)
    assert counts(record) == {"mine": 1}
    assert record["losses"] == {"section_misuse": 1}


def test_section_ended_twice_counts_once():
    def work(self, events):
        section = track_time(self, "twice")
        section.__enter__()
        section.__exit__(None, None, None)
        section.__exit__(None, None, None)

    record = measure(work)
    assert counts(record) == {"twice": 1}
    assert record["losses"] == {"section_misuse": 1}


def test_section_used_again_is_another_pass():
    def work(self, events):
        section = track_time(self, "again")
        for _ in range(3):
            with section:
                pass

    record = measure(work)
    assert counts(record) == {"again": 3}
    assert not record["losses"]


def test_section_entered_inside_itself_does_no_harm():
    def work(self, events):
        section = track_time(self, "self")
        with section, section:
            pass
        with track_time(self, "after"):
            pass

    record = measure(work)
    assert record["losses"]["section_misuse"] >= 1
    assert counts(record)["after"] == 1


def test_section_never_entered_is_no_section():
    def work(self, events):
        track_time(self, "made")
        track_time(self, "exited").__exit__(None, None, None)

    record = measure(work)
    assert record["sections"] == []
    assert not record["losses"]


def test_section_ended_on_another_thread_is_counted():
    def work(self, events):
        section = track_time(self, "mine")
        section.__enter__()
        other = threading.Thread(target=section.__exit__, args=(None, None, None))
        other.start()
        other.join()

    record = measure(work)
    assert counts(record) == {"mine": 1}
    assert record["losses"] == {"section_misuse": 1}


def test_section_on_a_thread_without_a_chunk_is_nothing():
    def work(self, events):
        def helper():
            with track_time(self, "helper"):
                pass

        other = threading.Thread(target=helper)
        other.start()
        other.join()

    assert measure(work)["sections"] == []


@pytest.mark.parametrize("read", [1, 2, 3])
def test_interrupt_in_a_byte_counter_is_the_users(read):
    """When it is found (1), at the start (2) and at the end (3) of a section."""

    class Source:
        reads = 0

        @property
        def num_requested_bytes(self):
            if inside:
                Source.reads += 1
                if Source.reads == read:
                    raise KeyboardInterrupt("mine")
            return 0

    inside = []

    def work(self, events):
        inside.append(1)
        with track_bytes(self, events, "section"):
            pass

    seen, record = fail(work, CountedEvents(Source()))
    assert isinstance(seen, KeyboardInterrupt)
    assert seen.args == ("mine",)
    assert record["error_type"] == "KeyboardInterrupt"
    assert record["bytes"] == {}


def test_broken_byte_counter_is_counted_not_raised(monitor_errors):
    class Source:
        @property
        def num_requested_bytes(self):
            if inside:
                raise OSError("gone")
            return 0

    inside = []

    def work(self, events):
        inside.append(1)
        with track_bytes(self, events, "section"):
            pass

    record = measure(work, CountedEvents(Source()))
    assert record["bytes"].get("section", 0) == 0
    assert record["bytes_read"] is None
    assert monitor_errors() >= 1
    assert record["monitor_errors"] == monitor_errors()
