# SPDX-License-Identifier: BSD-3-Clause
"""Code of the user's that runs in the middle of ours: properties, repr(), byte counters
and finalisers may be interrupted, record values themselves, or fail every time."""

from __future__ import annotations

import os

import pytest

from roastcoffea import BaseInstrumentationContext, _probe, track_metrics, track_time
from support import KEY, CountedEvents, Events, fail, make_processor, measure, waiting


class Interrupted:
    """A byte counter that is interrupted the n-th time it is read."""

    def __init__(self, when: int) -> None:
        self.left = when

    @property
    def num_requested_bytes(self) -> int:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt("mine")
        return 5


@pytest.mark.parametrize("when", [1, 2, 3])
@pytest.mark.parametrize("output", [[1], {"n": 1}, None], ids=str)
def test_interrupt_in_a_byte_counter_reaches_the_user(when, output):
    analysis = make_processor(lambda self, events: output)
    with pytest.raises(KeyboardInterrupt, match="mine"):
        analysis.process(CountedEvents(Interrupted(when)))
    (record,) = waiting()
    assert record["error_type"] == "KeyboardInterrupt"


def test_interrupt_in_the_byte_counter_of_a_failed_chunk_is_not_lost():
    def work(self, events):
        raise ValueError("mine")

    seen, record = fail(work, CountedEvents(Interrupted(3)))
    assert type(seen) is KeyboardInterrupt
    assert type(seen.__context__) is ValueError
    assert record["error_type"] == "ValueError"


def test_interrupt_while_a_value_is_looked_at_reaches_the_user():
    class Odd:
        @property
        def dtype(self):
            raise KeyboardInterrupt("mine")

    def work(self, events):
        self._roastcoffea_current_chunk["odd"] = Odd()

    with pytest.raises(KeyboardInterrupt, match="mine"):
        make_processor(work).process(Events())


def test_value_that_records_a_value_harms_nothing():
    class Chatty:
        def __repr__(self):
            BaseInstrumentationContext(None).record_metric("inner", 1)
            return "chatty"

    def work(self, events):
        context = BaseInstrumentationContext(self)
        context.record_metric("outer", Chatty())
        context.record_metric("after", 2)

    record = measure(work)
    assert record["custom_metrics"] == {"outer": "chatty", "after": 2}
    assert record["losses"]["values_dropped"] == 1


def test_byte_counter_that_always_fails_is_given_up_alone(monitor_errors):
    class Broken:
        @property
        def num_requested_bytes(self):
            raise OSError("mine")

    events = CountedEvents(Broken())
    for _ in range(200):
        record = measure(lambda *_: None, events)
    assert record["bytes_read"] is None
    assert 0 < monitor_errors() < 50


def test_switch_that_comes_from_getattr_stays_on():
    class Proxy:
        def __getattr__(self, name):
            if name == "_roastcoffea_collect_metrics":
                return True
            raise AttributeError(name)

        @track_metrics
        def process(self, events):
            return {}

    proxy = Proxy()
    assert all(KEY in proxy.process(Events()) for _ in range(3))


def test_section_inside_itself_counts_once_in_the_sums():
    def work(self, events, depth=4):
        with track_time(self, "recursive"):
            if depth:
                work(self, events, depth - 1)

    record = measure(work)
    assert record["timing"]["recursive"] == record["sections"][0]["time_delta"]
    assert len(record["sections"]) == 5


def test_section_of_a_finally_does_not_hide_the_one_that_failed():
    def work(self, events):
        try:
            with track_time(self, "selection"), track_time(self, "inner"):
                raise ValueError("mine")
        finally:
            with track_time(self, "cleanup"):
                pass

    _, record = fail(work)
    assert record["error_section"] == "selection/inner"


def test_names_of_arguments_are_also_those_of_older_versions():
    def work(self, events):
        with track_time(self, section_name="a"):
            pass
        with track_time(processor_self=self, section_name="b"):
            pass

    assert list(measure(work)["timing"]) == ["a", "b"]


def test_values_and_names_keep_no_credentials():
    url = "root://me:s3cr3t@host//a.root?authz=s3cr3t"

    def work(self, events):
        self._roastcoffea_current_chunk[url] = [url]
        with track_time(self, url):
            pass

    record = measure(work, Events(dataset=url, filename=url, treename=url))
    assert b"s3cr3t" not in record.frame
    assert b"host//a.root" in record.frame


def test_child_of_a_fork_in_a_chunk_counts_its_own_cost():
    read, write = os.pipe()

    def work(self, events):
        if os.fork() == 0:
            second = measure(lambda *_: None)
            os.write(write, f"{second['monitor_time']}".encode())
            os._exit(0)
        os.wait()

    make_processor(work).process(Events())
    assert 0 < float(os.read(read, 100)) < measure(lambda *_: None)["t_end"] / 1e6


def test_full_outbox_is_a_loss_and_no_error(monitor_errors):
    frame = "x" * 1000
    analysis = make_processor(lambda self, events: [1])
    dropped = 0
    for _ in range(40):
        for _ in range(1000):
            analysis.process(Events(dataset=frame))
    records, dropped = _probe.take_records()
    assert len(records) + dropped == 40_000
    assert dropped > 0
    assert monitor_errors() == 0
    assert _probe.status()["enabled"]


@pytest.mark.parametrize("key", ["error", "io_read_chars", "run_id", "duration"])
def test_key_of_the_user_never_takes_the_place_of_ours(key):
    def work(self, events):
        self._roastcoffea_current_chunk[key] = "mine"

    record = measure(work)
    assert record.get(key) != "mine"
    assert record["custom_metrics"][key] == "mine"
