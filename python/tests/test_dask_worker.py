# SPDX-License-Identifier: BSD-3-Clause
"""Decorated functions in any task of workers that know a run.

The plugin is on the workers of a real cluster, processes and threads of this one; a
client listens to what they tell instead of a collector.
"""

from __future__ import annotations

import dask
import dask.bag
import pytest
from coffea.processor.executor import WorkItem

from roastcoffea import _probe, track_metrics, track_time
from roastcoffea.dask import install
from support import Events
from worker_plugins import Plugged, addresses, make_function, open_cluster, plug

kinds = {"params": [True, False], "ids": ["processes", "threads"]}
client = pytest.fixture(scope="module", **kinds)(open_cluster)
plugged = pytest.fixture(plug)


# ---- decorated functions in any task -------------------------------------------------


def make_class():
    class Local:
        @track_metrics
        def process(self, events):
            return {"n": len(events)}

    return Local


def test_mapped_function_is_a_chunk(client, plugged):
    with plugged.tasks():
        futures = client.map(make_function(), [Events(10), Events(20)], pure=False)
        assert client.gather(futures) == [{"n": 10}, {"n": 20}]
    records = plugged.records("chunk", 2)
    assert sorted(record["num_events"] for record in records) == [10, 20]
    assert {record["worker"] for record in records} <= addresses(client)
    assert all(list(record["timing"]) == ["counting"] for record in records)
    keys = {each.key for each in plugged.reported if each.records}
    assert keys == {future.key for future in futures}
    assert len(plugged.records("begin", 2)) == len(plugged.records("end", 2))


def test_identity_is_that_of_the_collectors_of_this_process(client, plugged):
    with plugged.tasks():
        client.submit(make_function(), Events(), pure=False).result()
    (record,) = plugged.records("chunk", 1)
    assert bytes.fromhex(record["run_id"]) == install.RUN_ID


def test_delayed_and_bag_are_chunks(client, plugged):
    with plugged.tasks():
        count = make_function()
        assert client.compute(dask.delayed(count)(Events(5))).result() == {"n": 5}
        bag = dask.bag.from_sequence([Events(6), Events(7)], npartitions=2).map(count)
        assert client.compute(bag).result() == [{"n": 6}, {"n": 7}]
    sizes = sorted(record["num_events"] for record in plugged.records("chunk", 3))
    assert sizes == [5, 6, 7]


def test_many_small_calls_of_a_task_are_sent_together(client, plugged):
    """The first one at once; the others in few events, the last of which goes out when
    the run ends."""
    count, calls = make_function(), 2000

    def task():
        return sum(count(Events(1))["n"] for _ in range(calls))

    with plugged.tasks():
        assert client.submit(task, pure=False).result() == calls
    plugged.leave()
    plugged.records("chunk", calls)
    assert len({record["sequence"] for record in plugged.of("end")}) == calls
    events = [each for each in plugged.reported if each.records]
    assert len(events) < calls / 10


def test_object_made_on_the_worker_is_measured(client, plugged):
    make = make_class()

    def task(size):
        return make().process(Events(size))

    with plugged.tasks():
        assert client.submit(task, 3, pure=False).result() == {"n": 3}
    (record,) = plugged.records("chunk", 1)
    assert record["num_events"] == 3


def test_work_item_gives_file_and_entries(client, plugged):
    @track_metrics
    def analyse(item):
        return item.entrystop

    item = WorkItem("ttbar", "/data/a.root", "Events", 100, 250, b"0" * 16)
    with plugged.tasks():
        assert client.submit(analyse, item, pure=False).result() == 250
    (record,) = plugged.records("chunk", 1)
    assert (record["dataset"], record["file"]) == ("ttbar", "/data/a.root")
    assert (record["entry_start"], record["entry_stop"]) == (100, 250)
    assert record["num_events"] == 150


def test_failing_function_raises_its_own_exception_and_is_reported(client, plugged):
    @track_metrics
    def fail(events):
        raise KeyError("mine")

    with plugged.tasks(), pytest.raises(KeyError, match="mine"):
        client.submit(fail, Events(), pure=False, retries=1).result()
    records = plugged.records("chunk", 2)
    assert [record["status"] for record in records] == ["failed", "failed"]
    assert records[0]["error_type"] == "KeyError"


def test_function_inside_another_is_a_part_of_it(client, plugged):
    inner = make_function()

    @track_metrics
    def outer(events):
        return inner(events)

    with plugged.tasks():
        assert client.submit(outer, Events(), pure=False).result() == {"n": 10}
    (record,) = plugged.records("chunk", 1)
    names = [section["section_name"] for section in record["sections"]]
    assert "counting" in names


def test_tasks_of_others_and_what_is_switched_off_stay_unmeasured(client, plugged):
    analysis = make_class()()
    analysis._roastcoffea_collect_metrics = False
    off = make_function()
    off._roastcoffea_collect_metrics = False
    client.submit(make_function(), Events(), pure=False).result()
    with dask.annotate(**{"roastcoffea-of-another": True}):
        client.submit(make_function(), Events(), pure=False).result()
    with plugged.tasks():
        client.submit(analysis.process, Events(), pure=False).result()
        client.submit(off, Events(), pure=False).result()
    assert [each for each in plugged.all() if each.records] == []


def test_nothing_is_sent_after_the_run_has_ended(client, plugged):
    with plugged.tasks():
        count = make_function()
        client.submit(count, Events(), pure=False).result()
        plugged.records("end", 1)
        plugged.leave()
        assert client.submit(count, Events(), pure=False).result() == {"n": 10}
    assert sum(len(each.records) for each in plugged.all()) == 3
    assert not any(client.run(is_requested).values())


def is_requested():
    from roastcoffea import _probe

    return bool(_probe.user_functions)


def test_two_runs_at_once_get_the_same_events_of_a_shared_task(client, plugged):
    with Plugged(client) as other:
        with plugged.tasks(), other.tasks():
            client.submit(make_function(), Events(), pure=False).result()
        (one,), (two,) = plugged.records("chunk", 1), other.records("chunk", 1)
        assert one == two
    with plugged.tasks():  # the other one has ended
        client.submit(make_function(), Events(), pure=False).result()
    plugged.records("chunk", 2)


def test_calls_outside_of_tasks_are_as_they_are(client, plugged):
    analysis = make_class()()
    with plugged.tasks():
        assert analysis.process(Events()) == {"n": 10}
    assert [each for each in plugged.all() if each.records] == []
    assert _probe.take_records()[0] == []


def test_worker_that_is_started_again_knows_the_run(client, plugged):
    if not client.cluster.processes:
        pytest.skip("threads of this process cannot be started again")
    client.restart()
    with plugged.tasks():
        client.submit(make_function(), Events(), pure=False).result()
    plugged.records("chunk", 1)


# ---- giving up -----------------------------------------------------------------------


class Unspeakable:
    def __str__(self):
        raise ValueError("no name")


def make_troublesome():
    @track_metrics
    def err(events):
        for _ in range(100):
            with track_time(None, Unspeakable()):
                pass
        return 7

    return err


def test_worker_that_gives_up_reports_it(client, plugged, monitor_errors):
    with plugged.tasks():
        sent = client.submit(make_troublesome(), Events(), pure=False)
        assert sent.result() == 7
        (words,) = plugged.status(3)[2:]
    assert words.startswith("unmeasured: the monitor gave up after ")
    if client.cluster.processes:  # this process may have erred before
        assert " 100 errors of its own (first: " in words
        assert "no name" in words
    plugged.leave()
    with Plugged(client) as another:  # the next run begins anew
        assert all(status.startswith("measured") for status in another.status(2))
        with another.tasks():
            client.gather(client.map(make_function(), [Events()] * 8, pure=False))
        another.records("chunk", 8)
