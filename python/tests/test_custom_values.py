# SPDX-License-Identifier: BSD-3-Clause
"""Values that users attach to a chunk come back as they were or are counted as lost."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest

from roastcoffea import BaseInstrumentationContext
from support import Events, make_processor, measure, run_python


def kept(value):
    """What becomes of a value under both ways to attach one."""

    def work(self, events):
        self._roastcoffea_current_chunk["mine"] = value
        BaseInstrumentationContext(self).record_metric("mine", value)

    record = measure(work)
    assert repr(record.get("mine")) == repr(record["custom_metrics"].get("mine"))
    return record


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        0.1,
        -0.0,
        math.inf,
        "text π ☕ \0 \n",
        "",
        b"\0\xff",
        [],
        {},
        [1, [2, [3, None]]],
        {"a": {"b": [1.5, {"c": b"x"}]}},
        {"": ""},
    ],
    ids=repr,
)
def test_plain_value_comes_back_as_it_was(value):
    record = kept(value)
    assert record["mine"] == value
    assert type(record["mine"]) is type(value)
    assert not record["losses"]


def test_not_a_number_comes_back():
    assert math.isnan(kept(math.nan)["mine"])


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, 2), [1, 2]),
        (np.int32(-5), -5),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array(7), 7),
        (np.uint64(2**63 - 1), 2**63 - 1),
        (collections.OrderedDict(a=1), {"a": 1}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        ({1: "one", None: 2, (3, 4): 5}, {"1": "one", "None": 2, "(3, 4)": 5}),
        ("\udc80", "\\udc80"),
        ({"\ud800": "\udfff"}, {"\\ud800": "\\udfff"}),
        ([np.float64(1.5)], [1.5]),
    ],
    ids=repr,
)
def test_similar_value_becomes_a_plain_one(value, plain):
    record = kept(value)
    assert record["mine"] == plain
    assert not record["losses"]


class Foreign:
    def __repr__(self):
        return "<foreign>"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Foreign(), "<foreign>"),
        ([1, Foreign()], [1, "<foreign>"]),
        (2**63, str(2**63)),
        (-(2**100), str(-(2**100))),
        (1 + 2j, "(1+2j)"),
        ({1}, "{1}"),
        (np.arange(3), "array([0, 1, 2])"),
        (np.uint64(2**64 - 1), str(2**64 - 1)),
    ],
    ids=["object", "in list", "2^63", "-2^100", "complex", "set", "array", "uint64"],
)
def test_foreign_value_is_kept_as_its_repr_and_counted(value, shown):
    record = kept(value)
    assert record["mine"] == shown
    assert record["losses"] == {"values_repr": 2}


def test_long_repr_is_cut():
    class Long:
        def __repr__(self):
            return "é" * 10**6

    assert kept(Long())["mine"] == "é" * 512


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def test_eight_containers_may_be_nested():
    assert kept(deep(8))["mine"] == deep(8)


class Broken:
    def __repr__(self):
        raise ValueError("no repr")


def endless():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        deep(9),
        deep(1000),
        endless(),
        "x" * 70_000,
        b"x" * 70_000,
        list(range(10**6)),
        dict.fromkeys(map(str, range(10**5))),
        Broken(),
        [1, {"a": Broken()}],
    ],
    ids=["9 deep", "1000 deep", "endless", "text", "bytes", "list", "dict", "a", "b"],
)
def test_value_that_cannot_be_kept_is_dropped_whole_and_counted(value):
    def work(self, events):
        for key, entry in (("a", 1), ("mine", value), ("z", 2)):
            self._roastcoffea_current_chunk[key] = entry
            BaseInstrumentationContext(self).record_metric(key, entry)

    record = measure(work)
    assert record["custom_metrics"] == {"a": 1, "z": 2}
    assert (record["a"], record["z"]) == (1, 2)
    assert "mine" not in record
    assert record["losses"]["values_dropped"] == 2
    assert "monitor_errors" not in record


@pytest.mark.parametrize("key", ["k" * 10**6, Broken()])
def test_key_that_cannot_be_kept_is_dropped_and_counted(key):
    def work(self, events):
        self._roastcoffea_current_chunk[key] = 1
        BaseInstrumentationContext(self).record_metric(key, 1)

    assert measure(work)["losses"]["values_dropped"] == 2


def test_values_beyond_the_room_are_counted():
    def work(self, events):
        for n in range(100):
            self._roastcoffea_current_chunk[f"key {n}"] = "x" * 1000

    record = measure(work)
    own = [key for key in record if key.startswith("key ")]
    assert 60 <= len(own) < 66
    assert record["losses"]["values_dropped"] == 100 - len(own)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupt_in_a_repr_is_the_users(error):
    class Interrupting:
        def __repr__(self):
            raise error("mine")

    def in_chunk(self, events):
        self._roastcoffea_current_chunk["mine"] = Interrupting()

    def in_metric(self, events):
        BaseInstrumentationContext(self).record_metric("mine", Interrupting())

    for work in (in_chunk, in_metric):
        with pytest.raises(error, match="mine"):
            make_processor(work).process(Events())


def test_value_that_makes_values_without_end_does_not_crash():
    script = """
        from support import measure

        class Left:
            dtype = "x"
            def item(self): return Right()

        class Right(Left):
            def item(self): return Left()

        def work(self, events):
            self._roastcoffea_current_chunk["mine"] = Left()

        assert measure(work)["status"] == "ok"
    """
    run_python(script)


def test_containers_that_change_while_they_are_kept_do_no_harm():
    class Clearing:
        def __repr__(self):
            a_list.clear()
            a_dict.clear()
            return "here"

    a_list = [Clearing() for _ in range(100)]
    a_dict = dict(enumerate(a_list))

    def work(self, events):
        BaseInstrumentationContext(self).record_metric("both", [a_list, a_dict])

    first, second = measure(work)["custom_metrics"]["both"]
    assert first == ["here"] * 100
    assert second == {}
