# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share one processor object: every chunk has its own record, whole."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from roastcoffea import (
    BaseInstrumentationContext,
    track_memory,
    track_metrics,
    track_time,
)
from support import KEY, Events, make_processor, waiting

THREADS = 8
CHUNKS = 10_000


class Shared:
    """Everything it measures carries the number of its chunk."""

    _roastcoffea_collect_metrics = True

    @track_metrics
    def process(self, events):
        number = events.metadata["number"]
        self._roastcoffea_current_chunk["number"] = number
        with track_time(self, f"outer {number}"):
            self._roastcoffea_current_chunk["thread"] = threading.get_native_id()
            with track_time(self, f"inner {number}"):
                BaseInstrumentationContext(self).record_metric("number", number)
        with track_memory(self, f"memory {number}"):
            return {"number": [number]}


def run_threads(work, number=THREADS):
    """Run work(k) on so many threads that begin together; raises what they raise."""
    barrier = threading.Barrier(number)

    def begin(k):
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(begin, range(number)))


def check(record, number):
    """Every trace of a chunk in its record is that of this chunk."""
    assert record["dataset"] == f"dataset {number}"
    assert record["entry_start"] == record["num_events"] == number
    assert record["number"] == record["custom_metrics"]["number"] == number
    assert record["custom_metrics"]["thread"] == record["thread"]
    assert list(record["timing"]) == [f"outer {number}", f"inner {number}"]
    assert list(record["memory"]) == [f"memory {number}"]
    assert [s["count"] for s in record["sections"]] == [1, 1]
    assert record["status"] == "ok"
    assert not record["losses"]
    assert "monitor_errors" not in record


def test_ten_thousand_chunks_lose_nothing_and_mix_up_nothing():
    shared = Shared()

    def work(k):
        outputs = []
        for number in range(k, CHUNKS, THREADS):
            place = {"dataset": f"dataset {number}", "entrystart": number}
            events = Events(number, number=number, **place)
            outputs.append(shared.process(events))
        return outputs, threading.get_native_id()

    sequences = set()
    numbers = []
    for outputs, thread in run_threads(work):
        for output in outputs:
            (number,) = output["number"]
            (record,) = output[KEY]
            check(record, number)
            assert record["thread"] == thread
            numbers.append(number)
            sequences.add(record["sequence"])
    assert sorted(numbers) == list(range(CHUNKS))
    assert len(sequences) == CHUNKS
    assert waiting() == []


def test_outbox_takes_the_records_of_all_threads():
    def process(self, events):
        number = self._roastcoffea_current_chunk["number"] = len(events)
        if number % 2:
            raise ValueError(number)

    shared = make_processor(process)

    def work(k):
        for number in range(k, 1000, THREADS):
            if number % 2:
                with pytest.raises(ValueError, match=str(number)):
                    shared.process(Events(number))
            else:
                shared.process(Events(number))

    run_threads(work)
    records = waiting()
    assert sorted(record["number"] for record in records) == list(range(1000))
    for record in records:
        assert record["num_events"] == record["number"]
        assert record["status"] == ("failed" if record["number"] % 2 else "ok")


def test_records_arrive_while_others_take_them():
    """Nothing is taken twice and nothing is lost between the takers."""
    shared = make_processor(lambda self, events: len(events))

    def work(k):
        taken = []
        for number in range(k, 2000, THREADS):
            shared.process(Events(number))
            if number % 7 == 0:
                taken += waiting()
        return taken

    records = [record for taken in run_threads(work) for record in taken] + waiting()
    assert sorted(record["num_events"] for record in records) == list(range(2000))


def test_chunks_at_the_same_time_know_of_each_other():
    both = threading.Barrier(2)

    def process(self, events):
        both.wait()
        both.wait()
        return {}

    shared = make_processor(process)
    outputs = run_threads(lambda k: shared.process(Events()), 2)
    assert [output[KEY][0]["concurrency"] for output in outputs] == [2, 2]
    assert [output[KEY][0]["mem_peak_of"] for output in outputs] == ["process"] * 2
    alone = make_processor(lambda self, events: {}).process(Events())
    assert alone[KEY][0]["mem_peak_of"] == "chunk"


def test_each_thread_sees_its_own_chunk_only():
    both = threading.Barrier(2)

    def process(self, events):
        self._roastcoffea_current_chunk["mine"] = len(events)
        both.wait()
        chunk = dict(self._roastcoffea_current_chunk)
        both.wait()
        return {"seen": chunk["mine"]}

    shared = make_processor(process)
    outputs = run_threads(lambda k: shared.process(Events(k)), 2)
    assert [output["seen"] for output in outputs] == [0, 1]
    assert [output[KEY][0]["mine"] for output in outputs] == [0, 1]


def test_threads_that_come_and_go_leave_nothing_behind():
    """Each has its own state in C, which goes with it."""
    shared = make_processor(lambda self, events: {"n": len(events)})
    records = []

    def work(number):
        records.extend(shared.process(Events(number))[KEY])

    for number in range(200):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()
    assert [record["num_events"] for record in records] == list(range(200))
    assert len({record["sequence"] for record in records}) == 200
