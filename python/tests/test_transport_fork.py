# SPDX-License-Identifier: BSD-3-Clause
"""User code that forks, in a chunk or in the block: the parent's run is whole, the
child goes its way, takes nothing along and leaves nothing behind."""

from __future__ import annotations

import os

import pytest
from coffea.processor import IterativeExecutor, ProcessorABC

from outputs import identities, once, places, processes, run
from roastcoffea import MetricsCollector, track_metrics, track_time
from support import KEY, run_python

CHUNK = 500


class Forking(ProcessorABC):
    """Each chunk leaves a part of its work to a child of its own."""

    @track_metrics
    def process(self, events):
        with track_time(self, "child"):
            child = os.fork()
            if child == 0:
                os._exit(7)
            _, status = os.waitpid(child, 0)
        return {"statuses": {os.waitstatus_to_exitcode(status)}}

    def postprocess(self, accumulator):
        return accumulator


@pytest.mark.parametrize("where", ["here", "processes"])
def test_chunks_that_fork(where, tiny_file):
    executor = processes() if where == "processes" else IterativeExecutor(status=False)
    with MetricsCollector() as collector:
        output = run(Forking(), tiny_file, executor, CHUNK)
    assert output["statuses"] == {7}
    chunks = collector.chunk_metrics
    assert places(chunks) == places(output[KEY]) == once(tiny_file, CHUNK)
    assert len(identities(chunks)) == len(chunks)
    assert all("child" in chunk["timing"] for chunk in chunks)
    metrics = collector.get_metrics()
    assert metrics["losses"] == {}
    assert metrics["failures"] == []


# The child would hang, not fail, if it waited for a thread of its parent: the alarm
# ends it then.
HEAD = """
    import os, signal, sys, tempfile
    from concurrent.futures import ProcessPoolExecutor
    from pathlib import Path
    from coffea.processor import FuturesExecutor, IterativeExecutor, ProcessorABC
    from coffea.processor import Runner
    from outputs import Measured, run
    from roastcoffea import MetricsCollector, track_metrics

    os.register_at_fork(after_in_child=lambda: signal.alarm(60))
    tempfile.tempdir = sys.argv[2]
    path = sys.argv[1]
    me = os.getpid()
    forked = FuturesExecutor(pool=ProcessPoolExecutor, status=False)

    def leave():
        child = os.fork()
        if child == 0:
            sys.stdout.flush()
            sys.exit(7)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
"""


def test_child_that_leaves_a_block_takes_nothing_from_its_parent(tiny_file, tmp_path):
    script = """
    with MetricsCollector() as collector:
        run(Measured("dict"), path, forked, 500)
        (folder,) = Path(tempfile.tempdir).iterdir()
        assert leave() == 7
        assert folder.is_dir()
        run(Measured("dict"), path, forked, 500)
    assert os.getpid() == me
    assert not folder.exists()
    assert len(collector.chunk_metrics) == 12
    assert collector.get_metrics()["losses"] == {}
    print("parent", "ended")
    """
    assert "parent ended" in run_python(HEAD + script, tiny_file, tmp_path)


def test_child_that_leaves_a_chunk_through_the_run(tiny_file, tmp_path):
    """Its SystemExit passes the work function, Runner.run and the block."""
    script = """
    class Leaving(ProcessorABC):
        @track_metrics
        def process(self, events):
            return {"statuses": {leave()}}

        def postprocess(self, accumulator):
            return accumulator

    with MetricsCollector() as collector:
        output = run(Leaving(), path, IterativeExecutor(status=False), 1500)
    assert os.getpid() == me
    assert output["statuses"] == {7}
    assert len(collector.chunk_metrics) == 2
    assert collector.get_metrics()["failures"] == []
    print("parent", "ended")
    """
    assert "parent ended" in run_python(HEAD + script, tiny_file, tmp_path)


def test_child_is_outside_of_the_block(tiny_file, tmp_path):
    script = """
    before = Runner.run
    with MetricsCollector() as collector:
        assert Runner.run is not before
        if os.fork() == 0:
            assert Runner.run is before
            output = run(Measured("dict"), path, IterativeExecutor(status=False), 500)
            assert "__roastcoffea_metrics__" not in output
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
        run(Measured("dict"), path, IterativeExecutor(status=False), 500)
    assert len(collector.chunk_metrics) == 6
    print("parent", "ended")
    """
    assert "parent ended" in run_python(HEAD + script, tiny_file, tmp_path)
