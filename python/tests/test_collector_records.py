# SPDX-License-Identifier: BSD-3-Clause
"""Reports and records that users hand over: any of them, in any order, any number of
times, inside the block and after it. Nothing is counted twice."""

from __future__ import annotations

import copy
import itertools
import json
import pickle

import pytest

import roastcoffea
from collector_helpers import CHUNKS, EVENTS, Measured, fileset_of, make_runner, starts
from support import KEY

# as the earlier package made them
OLD = {
    "chunk_id": "a-0-10",
    "dataset": "old",
    "file": "old.root",
    "entry_start": 0,
    "entry_stop": 10,
    "num_events": 10,
    "t_start": 1.7e9,
    "t_end": 1.7e9 + 2,
    "duration": 2.0,
    "timestamp": 1.7e9,
    "bytes_read": 1000,
    "mem_before_mb": 100.0,
    "mem_after_mb": 103.0,
    "mem_delta_mb": 3.0,
    "timing": {"jets": 0.5},
    "memory": {"jets": 1.5},
    "my_own": [1, 2],
}


def old(**changes):
    return copy.deepcopy(OLD) | changes


class Passed:
    """A measured run, with everything a user could hand over."""

    def __init__(self, path, analysis=None):
        self.analysis = analysis or Measured()
        self.collector = roastcoffea.MetricsCollector(None)
        self.runner = make_runner(savemetrics=True)
        self.files = fileset_of(path)

    def run(self):
        self.output, self.report = self.runner(self.files, self.analysis)

    def set_report(self):
        self.collector.set_coffea_report(self.report)

    def extract(self):
        assert self.collector.extract_metrics_from_output(self.output) is self.output

    def set_chunks(self):
        self.collector.set_chunk_metrics(self.analysis._chunk_metrics)

    def check(self):
        metrics = self.collector.get_metrics()
        assert metrics["total_events"] == EVENTS
        assert metrics["total_bytes_read"] == self.report["bytesread"]
        assert metrics["num_chunks_processed"] == metrics["num_attempts"] == CHUNKS
        assert metrics["sections"]["sum"]["count"] == CHUNKS
        assert starts(self.collector.chunk_metrics) == [0, 1000, 2000]


STEPS = ("set_report", "extract", "set_chunks")


@pytest.mark.parametrize("inside", [0, 1, 2, 3])
@pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
def test_any_order_inside_and_after_gives_the_same(order, inside, tiny_file):
    passed = Passed(tiny_file)
    with passed.collector:
        passed.run()
        for step in order[:inside]:
            getattr(passed, step)()
            passed.collector.get_metrics()
    for step in order[inside:]:
        getattr(passed, step)()
        passed.check()
    passed.check()


def test_extracting_takes_the_key_out_and_twice_does_no_harm(tiny_file):
    passed = Passed(tiny_file)
    with passed.collector:
        passed.run()
    assert KEY in passed.output
    for _ in range(2):
        passed.extract()
        assert set(passed.output) == {"n", "sum"}
        passed.check()


@pytest.mark.parametrize(
    "output", [None, 7, "text", (1, 2), {}, {"n": 1}, [KEY], {KEY: 7}]
)
def test_output_without_our_key_comes_back_as_it_is(output):
    with roastcoffea.monitor() as collector:
        pass
    before = copy.deepcopy(output)
    assert collector.extract_metrics_from_output(output) is output
    assert output == before
    assert collector.chunk_metrics == []


@pytest.mark.parametrize("travel", [pickle, json, copy], ids=lambda m: m.__name__)
def test_records_that_travelled_are_the_same_records(travel, tiny_file):
    passed = Passed(tiny_file)
    with passed.collector:
        passed.run()
    records = passed.output[KEY]
    if travel is pickle:
        records = pickle.loads(pickle.dumps(records))
        assert {type(record) for record in records} == {bytes}
    elif travel is json:
        records = json.loads(json.dumps([dict(record) for record in records]))
    else:
        records = copy.deepcopy(records)
    passed.collector.set_chunk_metrics(records)
    passed.check()


def test_own_list_of_chunks_passed_back_counts_once(tiny_file):
    passed = Passed(tiny_file)
    with passed.collector:
        passed.run()
    passed.collector.set_chunk_metrics(passed.collector.chunk_metrics)
    passed.check()


def test_records_of_another_collector_are_taken(tiny_file):
    """A run in one session, looked at in another."""
    passed = Passed(tiny_file)
    with passed.collector:
        passed.run()
    with roastcoffea.monitor() as other:
        other.extract_metrics_from_output({KEY: list(passed.output[KEY])})
        other.set_coffea_report((passed.output, passed.report))
    metrics = other.get_metrics()
    assert metrics["total_events"] == EVENTS
    assert starts(other.chunk_metrics) == [0, 1000, 2000]
    assert metrics["sections"]["sum"]["count"] == CHUNKS


# ---- records made by hand ----------------------------------------------------------


def two_old_records():
    return [old(), old(chunk_id="a-10-20", entry_start=10, entry_stop=20, t_end=1.7e9)]


HAND_OVER = {
    "output": lambda c, records: c.extract_metrics_from_output({KEY: records}),
    "list": lambda c, records: c.set_chunk_metrics(records),
    "one by one": lambda c, records: [c.record_chunk_metrics(r) for r in records],
    "iterator": lambda c, records: c.set_chunk_metrics(iter(records)),
}
ways = pytest.mark.parametrize("way", HAND_OVER)


@ways
@pytest.mark.parametrize("inside", [True, False])
def test_records_of_the_earlier_package_are_understood(way, inside):
    with roastcoffea.monitor() as collector:
        if inside:
            HAND_OVER[way](collector, two_old_records())
    if not inside:
        HAND_OVER[way](collector, two_old_records())
    metrics = collector.get_metrics()
    assert metrics["num_chunks_processed"] == 2
    assert metrics["total_events"] == metrics["total_events_from_chunks"] == 20
    assert metrics["chunk_duration_mean"] == 2.0
    assert metrics["chunk_mem_delta_mean_mb"] == 3.0
    assert metrics["per_dataset"]["old"]["total_events"] == 20
    assert metrics["sections"]["jets"]["total"] == 1.0


@ways
def test_records_made_by_hand_keep_every_key(way):
    with roastcoffea.monitor() as collector:
        HAND_OVER[way](collector, two_old_records())
    for kept, given in zip(collector.chunk_metrics, two_old_records(), strict=True):
        assert kept.items() >= given.items()
    assert collector.get_metrics()["raw_chunk_metrics"] == collector.chunk_metrics


def test_same_list_passed_twice_counts_once():
    with roastcoffea.monitor() as collector:
        for _ in range(2):
            collector.set_chunk_metrics(two_old_records())
    assert len(collector.chunk_metrics) == 2
    assert collector.get_metrics()["total_events"] == 20


def test_list_of_dicts_given_back_counts_once():
    with roastcoffea.monitor() as collector:
        collector.set_chunk_metrics(two_old_records())
        collector.set_chunk_metrics(collector.chunk_metrics)
    assert len(collector.chunk_metrics) == 2


def test_equal_dicts_are_as_many_chunks_as_they_are():
    with roastcoffea.monitor() as collector:
        collector.set_chunk_metrics([{"num_events": 4}, {"num_events": 4}])
        collector.record_chunk_metrics({"num_events": 4})
    assert collector.get_metrics()["total_events"] == 12


def test_dict_changed_after_it_was_passed_is_not_changed_here():
    record = old()
    with roastcoffea.monitor() as collector:
        for n in range(3):
            record.update(entry_start=n, num_events=n + 1)
            collector.record_chunk_metrics(record)
    assert [r["num_events"] for r in collector.chunk_metrics] == [1, 2, 3]
    assert collector.get_metrics()["total_events"] == 6


def test_record_with_next_to_nothing_is_a_chunk():
    with roastcoffea.monitor() as collector:
        collector.record_chunk_metrics({"num_events": 4})
    assert collector.chunk_metrics[0]["num_events"] == 4
    assert collector.get_metrics()["total_events"] == 4


@pytest.mark.parametrize("bad", [None, 7, "x", [1], b"not a frame", object()])
def test_rubbish_among_records_does_not_cost_the_others(bad):
    with roastcoffea.monitor() as collector:
        collector.set_chunk_metrics([old(), bad, old(entry_start=10)])
    metrics = collector.get_metrics()
    assert metrics["num_chunks_processed"] == 2
    damaged = sum(metrics["losses"].values()) + metrics.get("monitor_errors", 0)
    assert damaged == 1


def test_records_of_both_kinds_add_up(tiny_file):
    passed = Passed(tiny_file)
    with passed.collector:
        passed.run()
        passed.collector.record_chunk_metrics(old())
    assert len(passed.collector.chunk_metrics) == CHUNKS + 1
    assert passed.collector.get_metrics()["num_chunks_processed"] == CHUNKS + 1
    assert passed.collector.get_metrics()["total_events"] == EVENTS  # coffea's word


# ---- sections made by hand ---------------------------------------------------------


def test_section_made_by_hand_is_kept_and_counted():
    section = {"name": "selection", "duration": 1.5, "type": "section"}
    with roastcoffea.monitor() as collector:
        collector.record_section_metrics(section)
    collector.record_section_metrics(section)
    assert collector.section_metrics == [section, section]
    metrics = collector.get_metrics()
    assert metrics["raw_section_metrics"] == [section, section]
    assert metrics["sections"]["selection"]["count"] == 2
    assert metrics["sections"]["selection"]["total_duration"] == 3.0
