# SPDX-License-Identifier: BSD-3-Clause
"""Whatever events are, process() gets them and the user sees no exception of ours; what
they do not tell is absent, with the reason."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from roastcoffea import track_metrics, track_time
from support import KEY, CountedEvents, Events, fail, make_processor, measure, waiting

PLACE = ["dataset", "file", "uuid", "entry_start", "entry_stop"]
NOT_GIVEN = "the events carry no such information"
RAISED = "reading it raised an exception"
BAD_VALUE = "its value is of the wrong type or out of range"


def nothing(*_):
    """Work of a chunk that is empty."""


def reasons(record, keys=PLACE):
    """Why fields are absent; they must be."""
    assert [record[key] for key in keys] == [None] * len(keys)
    (reason,) = {record["unavailable"][key] for key in keys}
    return reason


def raising(error):
    """Events whose metadata raise."""

    class Raising(Events):
        metadata = property(lambda self: throw(error), lambda self, value: None)

    return Raising()


def throw(error):
    raise error


class Measured(Events):
    """Events whose length is whatever len() is given."""

    def __init__(self, length):
        super().__init__()
        self.length = length

    def __len__(self):
        if isinstance(self.length, BaseException):
            raise self.length
        return self.length


# ---- metadata ----------------------------------------------------------------------


@pytest.mark.parametrize("events", [None, 7, object(), [1, 2], np.arange(3), "text"])
def test_anything_may_be_events(events):
    analysis = make_processor(lambda self, given: {"same": given is events})
    output = analysis.process(events)
    (record,) = output[KEY]
    assert output["same"]
    assert reasons(record) == NOT_GIVEN
    assert record["status"] == "ok"


@pytest.mark.parametrize("error", [ValueError, OSError, RuntimeError, RecursionError])
def test_metadata_that_raise_are_absent(error):
    record = measure(nothing, raising(error("mine")))
    assert reasons(record) == RAISED
    assert record["num_events"] == 10


def test_metadata_that_are_missing_are_absent():
    record = measure(nothing, raising(AttributeError("metadata")))
    assert reasons(record) == NOT_GIVEN


@pytest.mark.parametrize("metadata", [None, 7, "text", [1], object()])
def test_metadata_of_another_type_are_absent(metadata):
    events = Events()
    events.metadata = metadata
    reasons(measure(nothing, events))


@pytest.mark.parametrize(
    "mapping", [collections.ChainMap, collections.UserDict, collections.OrderedDict]
)
def test_metadata_may_be_any_mapping(mapping):
    events = Events()
    events.metadata = mapping(events.metadata)
    record = measure(nothing, events)
    assert record["dataset"] == "ttbar"
    assert record["entry_stop"] == 10


def test_empty_metadata_are_absent_one_by_one():
    events = Events()
    events.metadata = {"dataset": "ttbar"}
    record = measure(nothing, events)
    assert record["dataset"] == "ttbar"
    assert reasons(record, PLACE[1:]) == NOT_GIVEN


@pytest.mark.parametrize("value", [-1, 2**63, 2**70, 1.5, "7", [], object()])
def test_bad_entry_is_absent(value):
    record = measure(nothing, Events(entrystart=value))
    assert record["entry_start"] is None
    assert record["unavailable"]["entry_start"] == BAD_VALUE
    assert record["entry_stop"] == 10


@pytest.mark.parametrize("value", [0, 7, 2**63 - 1, np.int64(7), np.uint8(3), True])
def test_whole_entry_is_kept(value):
    assert measure(nothing, Events(entrystart=value))["entry_start"] == int(value)


# ---- length ------------------------------------------------------------------------


@pytest.mark.parametrize("length", [-1, 2**63, 2**100, "7", 1.5, None])
def test_length_that_is_none_is_absent(length):
    record = measure(nothing, Measured(length))
    assert record["num_events"] is None
    assert record["unavailable"]["num_events"] in (BAD_VALUE, NOT_GIVEN)


@pytest.mark.parametrize("error", [OSError("mine"), KeyError(1), ZeroDivisionError()])
def test_length_that_raises_is_absent(error):
    record = measure(nothing, Measured(error))
    assert record["num_events"] is None
    assert record["unavailable"]["num_events"] == RAISED
    assert record["dataset"] == "ttbar"


def test_length_may_be_zero():
    record = measure(nothing, Events(0))
    assert record["num_events"] == 0
    assert "num_events" not in record["unavailable"]


# ---- names -------------------------------------------------------------------------

NAMES = {"dataset": "dataset", "filename": "file", "treename": "treename"}
names = pytest.mark.parametrize(("given", "key"), NAMES.items())


@names
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("\udc80", "\\udc80"),
        ("", ""),
        ("a\0b", "a\0b"),
        (7, "7"),
        (None, None),  # coffea's way to say that there is none
        (b"x", "b'x'"),
        (np.str_("x"), "x"),
    ],
)
def test_any_name_is_shown_as_text(given, key, value, shown):
    assert measure(nothing, Events(**{given: value}))[key] == shown


@names
def test_name_of_a_megabyte_is_cut_and_counted(given, key):
    record = measure(nothing, Events(**{given: "é" * 10**6}))
    assert set(record[key]) == {"é"}
    assert 1020 <= len(record[key].encode()) <= 1024
    assert record["losses"] == {"text_cut": 1}


@names
def test_name_that_cannot_be_shown_is_absent(given, key):
    class Nameless:
        def __str__(self):
            raise ValueError("mine")

    record = measure(nothing, Events(**{given: Nameless()}))
    assert record.get(key) is None
    assert record["unavailable"][key] == RAISED


# ---- files -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attrs", [None, 7, {}, {"@events_factory": None}, {"@events_factory": object()}]
)
def test_way_to_the_file_that_ends_early_is_no_error(attrs, monitor_errors):
    events = CountedEvents()
    events.attrs = attrs
    record = measure(nothing, events)
    assert record["bytes_read"] is None
    assert record["unavailable"]["bytes_read"] == NOT_GIVEN
    assert monitor_errors() == (0 if isinstance(attrs, dict) else 1)


@pytest.mark.parametrize("value", [None, "7", -1, 2**64, 1.5])
def test_counter_with_a_bad_value_gives_no_bytes(value, monitor_errors):
    events = CountedEvents()
    events.source.num_requested_bytes = value
    assert measure(nothing, events)["bytes_read"] is None


def test_error_of_the_monitor_is_counted_in_its_chunk(monitor_errors):
    events = CountedEvents()
    events.attrs = 7  # has no get()
    record = measure(nothing, events)
    assert record["monitor_errors"] == monitor_errors() == 1
    assert record["monitor_first_error"]
    assert "monitor_errors" not in measure(nothing)


def test_first_error_of_a_chunk_is_its_own(monitor_errors):
    """Not that of an earlier chunk."""
    events = CountedEvents()
    events.attrs = 7
    measure(nothing, events)

    class Nameless:
        def __str__(self):
            raise ValueError("nameless section")

    def work(self, events):
        with track_time(self, Nameless()):
            pass

    record = measure(work)
    assert record["monitor_errors"] == 1
    assert "nameless section" in record["monitor_first_error"]


# ---- what is not an Exception is the user's ----------------------------------------


class Interrupting(Events):
    """Interrupts the given lookup."""

    def __init__(self, where):
        super().__init__()
        self.where = where

    def __getattribute__(self, name):
        if name == object.__getattribute__(self, "__dict__").get("where"):
            raise KeyboardInterrupt("mine")
        return super().__getattribute__(name)

    def __len__(self):
        return throw(KeyboardInterrupt("mine")) if self.where == "len" else 10

    attrs: dict = {}  # noqa: RUF012


class InterruptingName:
    def __str__(self):
        raise KeyboardInterrupt("mine")


@pytest.mark.parametrize(
    "events",
    [
        Interrupting("metadata"),
        Interrupting("len"),
        Interrupting("attrs"),
        Events(dataset=InterruptingName()),
        Events(filename=InterruptingName()),
        raising(SystemExit("mine")),
    ],
)
def test_interrupt_inside_our_lookup_passes(events):
    seen, record = fail(nothing, events)
    assert isinstance(seen, (KeyboardInterrupt, SystemExit))
    assert seen.args == ("mine",)
    assert record["status"] == "failed"
    assert not hasattr(seen, "__notes__")


def test_interrupt_inside_our_lookup_leaves_the_next_chunk_whole():
    fail(nothing, Interrupting("metadata"))
    assert measure(nothing)["status"] == "ok"
    assert waiting() == []


def test_hostile_events_of_a_function():
    @track_metrics
    def analyse(*args, **kwargs):
        return {"args": len(args), "kwargs": len(kwargs)}

    analyse._roastcoffea_collect_metrics = True
    for call in ((), (None,), (1, 2)):
        output = analyse(*call)
        assert output["args"] == len(call)
        assert output[KEY][0]["num_events"] is None
