# SPDX-License-Identifier: BSD-3-Clause
"""Sections: the shapes they fill, how they add up, and what misuse does to them."""

from __future__ import annotations

import gc
import time

import awkward as ak
import numpy as np
import pytest
import uproot
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory

from roastcoffea import (
    _probe,
    track_bytes,
    track_memory,
    track_section,
    track_time,
)
from support import MIB, CountedEvents, Events, measure

TRACKERS = [track_time, track_section, track_memory]
trackers = pytest.mark.parametrize("track", TRACKERS)


def nothing(*_):
    """Work of a chunk that is empty."""


def named(record, name):
    """All time sections with this name."""
    return [s for s in record["sections"] if s["section_name"] == name]


def tick():
    """Let the monotonic clock advance."""
    start = time.monotonic_ns()
    while time.monotonic_ns() - start < 20_000:
        pass


# ---- shapes ------------------------------------------------------------------------


@pytest.mark.parametrize("track", [track_time, track_section])
def test_time_fills_both_shapes(track):
    def work(self, events):
        with track(self, "jets"):
            tick()

    record = measure(work)
    (section,) = record["sections"]
    assert section["section_name"] == "jets"
    assert section["count"] == 1
    assert section["depth"] == 0
    assert 20e-6 <= section["time_delta"] <= record["duration"]
    assert section["self_time"] == section["time_delta"]
    assert record["timing"] == {"jets": section["time_delta"]}
    assert record["memory"] == record["bytes"] == {}
    assert record["memory_sections"] == []


def test_memory_fills_both_shapes():
    def work(self, events):
        with track_memory(self, "hists"):
            pass

    record = measure(work)
    (section,) = record["memory_sections"]
    assert section["section_name"] == "hists"
    delta = section["memory_delta_gb"]
    assert record["memory"] == {"hists": pytest.approx(delta * 1e9 / MIB)}
    assert section["memory_end_gb"] == pytest.approx(section["memory_start_gb"] + delta)
    assert record["timing"] == record["bytes"] == {}
    assert record["sections"] == []


def test_bytes_are_those_of_the_counter():
    def work(self, events):
        with track_bytes(self, events, "muons"):
            events.source.num_requested_bytes += 1000
        events.source.num_requested_bytes += 50
        with track_bytes(self, events, "jets"):
            with track_bytes(self, events, "inner"):
                events.source.num_requested_bytes += 7
            events.source.num_requested_bytes += 1

    record = measure(work, CountedEvents())
    assert record["bytes"] == {"muons": 1000, "jets": 8, "inner": 7}
    assert record["bytes_read"] == 1058
    assert record["timing"] == record["memory"] == {}


def opened_like_a_runner(path):
    root = uproot.open(path)
    return {"file": root, "treepath": "Events"}, lambda factory: root.file.source


def opened_by_hand(path):
    return {"file": {str(path): "Events"}}, lambda factory: factory.file_handle.source


@pytest.mark.filterwarnings("ignore::RuntimeWarning:coffea")
@pytest.mark.parametrize("opened", [opened_like_a_runner, opened_by_hand])
def test_bytes_of_a_real_file_are_those_of_its_source(tiny_file, opened):
    options, source_of = opened(tiny_file)
    factory = NanoEventsFactory.from_root(
        **options, schemaclass=NanoAODSchema, mode="virtual"
    )
    source = source_of(factory)
    truth = {}

    def work(self, events):
        for name in ("first", "again"):
            before = source.num_requested_bytes
            with track_bytes(self, events, name):
                ak.sum(events.Hit.value)
            truth[name] = source.num_requested_bytes - before

    record = measure(work, factory.events())
    assert record["bytes"] == truth
    assert truth["first"] > 0
    assert truth["again"] == 0
    assert record["bytes_read"] == sum(truth.values())


def test_bytes_without_a_counter_are_absent():
    def work(self, events):
        with track_bytes(self, events, "muons"):
            pass

    assert measure(work, Events())["bytes"] == {}


# ---- adding up ---------------------------------------------------------------------


def test_repeated_name_adds_up_and_is_counted():
    def work(self, events):
        for _ in range(5):
            with track_time(self, "loop"):
                tick()

    record = measure(work)
    (section,) = record["sections"]
    assert section["count"] == 5
    assert section["time_delta"] >= 5 * 20e-6
    total = sum(duration for _, _, duration in record["intervals"])
    assert section["time_delta"] == pytest.approx(total, abs=1e-8)


def test_nesting_gives_self_and_total_time():
    def work(self, events):
        with track_time(self, "outer"):
            tick()
            with track_time(self, "left"):
                tick()
            with track_time(self, "right"):
                tick()

    record = measure(work)
    by_name = {s["section_name"]: s for s in record["sections"]}
    outer = by_name["outer"]
    inside = by_name["left"]["time_delta"] + by_name["right"]["time_delta"]
    assert outer["self_time"] == pytest.approx(outer["time_delta"] - inside, abs=1e-8)
    assert outer["self_time"] >= 20e-6
    assert (outer["depth"], by_name["left"]["depth"], by_name["right"]["depth"]) == (
        0,
        1,
        1,
    )


def test_one_name_at_two_places_is_two_sections_and_one_sum():
    def work(self, events):
        with track_time(self, "fill"):
            tick()
        with track_time(self, "loop"), track_time(self, "fill"):
            tick()

    record = measure(work)
    assert [s["depth"] for s in named(record, "fill")] == [0, 1]
    total = sum(s["time_delta"] for s in named(record, "fill"))
    assert record["timing"]["fill"] == pytest.approx(total, abs=1e-9)


def test_time_and_memory_of_one_name_are_kept_apart():
    def work(self, events):
        with track_time(self, "jets"):
            pass
        with track_memory(self, "jets"):
            tick()

    record = measure(work)
    (section,) = record["sections"]
    (memory,) = record["memory_sections"]
    assert section["count"] == memory["count"] == 1
    assert section["time_delta"] < memory["time_delta"]


def test_intervals_say_when_sections_ran():
    def work(self, events):
        for name in ("first", "second"):
            with track_time(self, name):
                tick()

    record = measure(work)
    (a, start, took), (b, later, _) = record["intervals"]
    assert [record["sections"][i]["section_name"] for i in (a, b)] == ["first", "second"]
    assert 0 <= start < start + took <= later <= record["duration"]


# ---- names -------------------------------------------------------------------------


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
    assert "losses" not in record


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
        before = _probe.rss_bytes()
        for n in range(number):
            with track_time(self, f"section {n}"):
                pass
        growth.append(_probe.rss_bytes() - before)

    record = measure(work)
    assert growth[0] < 8 * MIB
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
