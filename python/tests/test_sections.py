# SPDX-License-Identifier: BSD-3-Clause
"""Sections: the shapes they fill, how they add up, and what misuse does to them."""

from __future__ import annotations

import time

import awkward as ak
import pytest
import uproot
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory

from roastcoffea import track_bytes, track_memory, track_section, track_time
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
    assert (a, b) == ("first", "second")
    assert 0 <= start < start + took <= later <= record["duration"]
