# SPDX-License-Identifier: BSD-3-Clause
"""Names of sections: any object will do, and too many or too long ones are counted."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from roastcoffea import track_bytes, track_memory, track_section, track_time
from support import MIB, SANITIZED, CountedEvents, measure, rss_bytes

TRACKERS = [track_time, track_section, track_memory]
trackers = pytest.mark.parametrize("track", TRACKERS)


def named(record, name):
    """All time sections with this name."""
    return [s for s in record["sections"] if s["section_name"] == name]


@trackers
def test_arguments_may_be_given_by_name(track):
    def work(self, events):
        with track(processor=self, name="a"), track(self, name="b"):
            pass

    record = measure(work)
    assert set(record["timing"]) | set(record["memory"]) == {"a", "b"}


def test_arguments_of_track_bytes_may_be_given_by_name():
    def work(self, events):
        with track_bytes(self, events=events, name="a"):
            pass
        with track_bytes(name="b", events=events, processor=self):
            pass

    assert measure(work, CountedEvents())["bytes"] == {"a": 0, "b": 0}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (7, "7"),
        (None, "None"),
        (("a", 1), "('a', 1)"),
        (b"x", "b'x'"),
        (np.float64(0.5), "0.5"),
        ("", ""),
        ("Jet π ☕", "Jet π ☕"),
        ("a\0b\n", "a\0b\n"),
        ("\udc80x", "\\udc80x"),
        ("x" * 200, "x" * 200),
    ],
)
@pytest.mark.parametrize("track", [track_time, track_memory])
def test_any_name_is_shown_as_text(track, name, shown):
    def work(self, events):
        with track(self, name):
            pass

    record = measure(work)
    assert set(record["timing"]) | set(record["memory"]) == {shown}
    assert not record["losses"]


@pytest.mark.parametrize("letter", ["x", "é", "☕"])
def test_name_of_a_megabyte_is_cut_and_counted(letter):
    def work(self, events):
        with track_time(self, letter * 10**6):
            pass

    record = measure(work)
    (name,) = record["timing"]
    size = len(letter.encode())
    assert name == letter * (200 // size)
    assert record["losses"] == {"text_cut": 1}


def test_name_that_cannot_be_shown_is_not_the_users_problem(monitor_errors):
    class Nameless:
        def __str__(self):
            raise ValueError("no name")

    def work(self, events):
        for track in TRACKERS:
            with track(self, Nameless()):
                pass
        with track_bytes(self, events, Nameless()):
            pass

    record = measure(work, CountedEvents())
    assert record["timing"] == record["memory"] == record["bytes"] == {}
    assert record["monitor_errors"] == monitor_errors() == 4


def test_a_million_names_are_capped_and_memory_stays_flat():
    number = 10**6
    growth = []

    def work(self, events):
        with track_time(self, "warm up"):
            gc.collect()
        before = rss_bytes()
        for n in range(number):
            with track_time(self, f"section {n}"):
                pass
        growth.append(rss_bytes() - before)

    record = measure(work)
    assert SANITIZED or growth[0] < 8 * MIB
    assert len(record["sections"]) == 256
    assert sum(s["count"] for s in record["sections"]) == number + 1
    (other,) = named(record, "(other)")
    assert record["losses"]["section_names"] == other["count"] == number - 254
    assert record["losses"]["intervals"] == number + 1 - 256


def test_sections_too_deep_are_left_to_their_parent_and_counted():
    def work(self, events):
        def down(n):
            if n:
                with track_time(self, f"level {n}"):
                    down(n - 1)

        down(70)

    record = measure(work)
    assert len(record["sections"]) == 64
    assert record["losses"] == {"section_depth": 6}
