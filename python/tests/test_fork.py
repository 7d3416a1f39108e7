# SPDX-License-Identifier: BSD-3-Clause
"""A process that forks: no record twice, and the child is a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import traceback

import pytest

from roastcoffea import _probe, track_memory, track_time
from support import (
    KEY,
    MIB,
    Events,
    make_processor,
    measure,
    run_python,
    touched,
    waiting,
)

# Python 3.12 and later warn of forking beside threads; that is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def in_child(function):
    """What function() returns in a forked child, which ends without cleaning up."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        result = None
        try:
            result = function()
        except BaseException:
            result = traceback.format_exc()
        finally:
            with os.fdopen(writer, "wb") as out:
                out.write(pickle.dumps(result))
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as source:
        data = source.read()
    _, status = os.waitpid(pid, 0)
    assert status == 0
    result = pickle.loads(data)
    assert not isinstance(result, str), result
    return result


def chunk_in_child(work=lambda *_: None):
    """The record of a chunk in a child, and the child's ids."""

    def run():
        ids = {"pid": os.getpid(), "thread": threading.get_native_id()}
        return measure(work), ids

    frame, ids = in_child(run)
    (record,) = _probe.read_frames(frame)
    return record, ids


def test_child_is_another_process():
    before = measure(lambda *_: None)
    record, ids = chunk_in_child()
    after = measure(lambda *_: None)
    assert before["process_id"] == after["process_id"] != record["process_id"]
    assert record["pid"] == ids["pid"] != os.getpid()
    assert record["thread"] == ids["thread"]
    assert (before["pid"], before["thread"]) == (after["pid"], after["thread"])
    assert after["sequence"] == before["sequence"] + 1


def test_child_describes_itself_with_its_first_chunk():
    measure(lambda *_: None)
    record, _ = chunk_in_child()
    assert record["first_chunk"] is True
    assert record["process"]["parent_pid"] == os.getpid()
    assert record["sequence"] == 1
    assert record["concurrency"] == 1


def child_measures_its_own_memory_and_cpu():
    size = 256 * MIB
    kept = touched(size)  # the parent keeps it, the child gives it back
    measure(lambda *_: None)  # so that all files of the monitor are open

    def work(self, events):
        kept.close()
        with track_memory(self, "child"):
            self.memory = touched(2 * size)

    record, _ = chunk_in_child(work)
    assert record["memory"]["child"] == pytest.approx(512, rel=0.05)
    assert record["mem_delta_mb"] == pytest.approx(256, rel=0.1)
    assert 0 < record["cpu_time"] <= record["duration"] * 1.05


def test_child_measures_its_own_memory_and_cpu():
    """In an interpreter of its own, for the reason given in test_chunk_memory."""
    run_python("import test_fork; test_fork.child_measures_its_own_memory_and_cpu()")


def test_fork_in_mid_chunk_gives_one_record():
    children = []

    def process(self, events):
        with track_time(self, "before"):
            pass
        with track_time(self, "across"):
            pid = os.fork()
        if pid == 0:
            os._exit(0)
        children.append(pid)
        return {"n": 1}

    (record,) = make_processor(process).process(Events())[KEY]
    os.waitpid(children[0], 0)
    assert set(record["timing"]) == {"before", "across"}
    assert record["status"] == "ok"
    assert waiting() == []


def test_child_that_ends_the_chunk_reports_nothing_and_lives_on():
    """It returns from process() too; its own next chunk is measured."""
    reader, writer = os.pipe()
    pids = []

    def process(self, events):
        with track_time(self, "across"):
            pids.append(os.fork())
        return {"n": 1}

    output = make_processor(process).process(Events())
    if pids[0] == 0:
        try:
            found = {"key": KEY in output, "n": output["n"], "waiting": len(waiting())}
            found["next"] = measure(lambda *_: None)
            with os.fdopen(writer, "wb") as out:
                out.write(pickle.dumps(found))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as source:
        found = pickle.loads(source.read())
    os.waitpid(pids[0], 0)
    (parents,) = output[KEY]
    (childs,) = _probe.read_frames(found.pop("next"))
    assert found == {"key": False, "n": 1, "waiting": 0}
    assert childs["process_id"] != parents["process_id"]
    assert childs["sections"] == []
    assert list(parents["timing"]) == ["across"]


def test_child_does_not_deliver_what_waits_in_the_parent():
    make_processor(lambda *_: None).process(Events())
    assert in_child(lambda: len(waiting())) == 0
    assert len(waiting()) == 1


def test_fork_while_other_threads_measure_does_not_hang():
    stop = threading.Event()
    busy = make_processor(lambda self, events: {})

    def loop():
        while not stop.is_set():
            busy.process(Events())

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        records = [chunk_in_child()[0] for _ in range(20)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len({record["process_id"] for record in records}) == 20
    assert {record["concurrency"] for record in records} == {1}


def pool_chunk(number):
    """In a process of a pool."""
    record = measure(lambda *_: None, Events(number))
    return record, os.getpid()


def test_pool_of_forked_processes_reports_each_chunk_once():
    measure(lambda *_: None)  # the parent has used the monitor already
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map(pool_chunk, range(40), chunksize=5)
    records = []
    for number, (frame, pid) in enumerate(results):
        (record,) = _probe.read_frames(frame)
        assert record["num_events"] == number
        assert record["pid"] == pid
        records.append(record)
    assert len({(r["process_id"], r["sequence"]) for r in records}) == 40
    assert len({r["process_id"] for r in records}) == len({pid for _, pid in results})
