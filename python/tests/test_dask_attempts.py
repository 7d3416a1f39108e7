# SPDX-License-Identifier: BSD-3-Clause
"""Work functions of coffea in tasks of workers that know a run: which frames go out as
events, and which with the result."""

from __future__ import annotations

import functools
import multiprocessing
import time
from typing import Any

import dask
import loky
import pytest
from coffea.processor.executor import WorkItem, _compression_wrapper, _decompress

from roastcoffea import _probe
from roastcoffea.coffea.work_function import WRAPPED_KEY, Token, WorkFunction
from support import Events
from worker_plugins import Plugged, addresses, make_function, open_cluster, plug

RUN_ID = bytes(range(16))
CLOCKS_S = 0.02  # by which two of one machine may differ

kinds = {"params": [True, False], "ids": ["processes", "threads"]}
client = pytest.fixture(scope="module", **kinds)(open_cluster)
plugged = pytest.fixture(plug)


def wrapped(item: Any, result: Any = None) -> Any:
    """What coffea's own work function gives for a chunk."""
    return (
        {"out": {"n": 1}, "processed": {item.entrystart}} if result is None else result
    )


def work(plugged: Plugged, function: Any = wrapped, **more: Any) -> WorkFunction:
    marks = (plugged.mark,)
    return WorkFunction(function, Token(RUN_ID, 7, (), False, marks=marks, **more))


def item(start: int = 0) -> WorkItem:
    return WorkItem("ttbar", "/data/a.root", "Events", start, start + 10, b"0" * 16)


def read(result: Any) -> list[Any]:
    return [x for frames in result[WRAPPED_KEY] for x in _probe.read_frames(frames)]


def test_result_carries_the_chunk_and_events_its_begin_and_end(client, plugged):
    future = client.submit(work(plugged), item(), pure=False)
    result = future.result()
    assert result == wrapped(item())
    (begin,), (end,) = plugged.records("begin", 1), plugged.records("end", 1)
    assert begin["sequence"] == end["sequence"]
    assert {each.key for each in plugged.reported if each.records} == {future.key}
    assert plugged.of("chunk") == []


def test_decorated_chunk_travels_with_the_result_only(client, plugged):
    count = make_function()

    def chunk(item):
        return {"out": count(Events(item.entrystop)), "processed": {1}}

    result = client.submit(work(plugged, chunk), item(), pure=False).result()
    assert result["out"] == {"n": 10}
    assert [record.kind for record in read(result)] == ["chunk"]
    assert read(result)[0]["worker"] in addresses(client)
    plugged.records("end", 1)
    assert plugged.of("chunk") == []


def test_end_frame_includes_packing(client, plugged):
    packed = _compression_wrapper(1, work(plugged, packs=True), "chunk")
    data = client.submit(packed, item(), pure=False).result()
    assert isinstance(data, bytes)
    (end,) = plugged.records("end", 1)
    assert "result" in end["ladder"]
    assert not any(client.run(is_packing_replaced).values())


def is_packing_replaced():
    from coffea.processor import executor

    return hasattr(executor._compress, "__wrapped__")


def test_failed_attempts_are_sent_whole_and_tried_again(client, plugged):
    def fail(item):
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        client.submit(work(plugged, fail), item(), pure=False, retries=2).result()
    records = plugged.records("chunk", 3)
    assert {record["error_type"] for record in records} == {"OSError"}
    assert {record["file"] for record in records} == {"/data/a.root"}
    assert len({record["sequence"] for record in records}) >= 1
    assert all(record["worker"] in addresses(client) for record in records)
    assert len(plugged.records("end", 3)) == 3


def test_frames_of_a_result_without_a_dict_are_sent_as_events(client, plugged):
    """A DataFrame, and None for a chunk that coffea skips."""
    for result in ([1, 2], "text"):
        function = functools.partial(wrapped, result=result)
        sent = _compression_wrapper(1, work(plugged, function, packs=True), "chunk")
        packed = client.submit(sent, item(), pure=False).result()
        assert _decompress(packed) == result
    plugged.records("end", 2)


def test_preprocessing_sends_failures_only(client, plugged):
    counting = work(plugged, counts_entries=True)
    client.submit(counting, item(), pure=False).result()

    def fail(meta):
        raise OSError("gone")

    failing = work(plugged, fail, counts_entries=True)
    with pytest.raises(OSError, match="gone"):
        client.submit(failing, item(), pure=False).result()
    (record,) = plugged.records("chunk", 1)
    assert record["error_message"] == "gone"


def test_attempt_begins_with_the_task(client, plugged):
    """What the worker does before it calls us is part of the attempt: imports."""

    def slow(function, item):
        time.sleep(0.05)
        return function(item)

    client.submit(slow, work(plugged), item(), pure=False).result()
    (end,) = plugged.records("end", 1)
    assert end["task_time"] > 0.05
    assert end["ladder"]["import"] > 0.05


def test_second_attempt_in_a_task_begins_when_it_begins(client, plugged):
    def twice(function, item):
        begun_s = time.time()
        function(item)
        between_s = time.time()
        function(item)
        return begun_s, between_s

    sent = client.submit(twice, work(plugged), item(), pure=False)
    begun_s, between_s = sent.result()
    first_s, second_s = (x["t_start"] for x in plugged.records("begin", 2))
    # Dask's clock is a monotonic one that was set when the worker began.
    assert first_s < begun_s + CLOCKS_S
    assert begun_s < between_s < second_s


def test_after_the_run_the_plain_function_is_called(client, plugged):
    sent = work(plugged)
    plugged.leave()
    assert client.submit(sent, item(), pure=False).result() == wrapped(item())
    assert [each for each in plugged.all() if each.records] == []


def test_process_of_a_worker_sends_frames_with_the_result(client, plugged):
    """Processes of a pool cannot send events."""
    client.run(add_pool)
    try:
        with dask.annotate(executor="pool"):
            result = client.submit(work(plugged), item(), pure=False).result()
    finally:
        client.run(remove_pool)
    assert [record.kind for record in read(result)] == ["end"]
    assert [each for each in plugged.all() if each.records] == []


def add_pool(dask_worker):
    multiprocessing.current_process()._config["daemon"] = False  # as without a nanny
    dask_worker.executors["pool"] = loky.ProcessPoolExecutor(1)


def remove_pool(dask_worker):
    dask_worker.executors.pop("pool").shutdown()
