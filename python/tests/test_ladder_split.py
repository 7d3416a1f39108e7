# SPDX-License-Identifier: BSD-3-Clause
"""The second way to tell where a chunk's time went: a thread that holds the GIL, a
process on the same core, and the garbage collector."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time

import pytest
from coffea import processor

import planted_delays
import roastcoffea
from collector_helpers import fileset_of, make_runner
from ladder_clocks import Clocks, clocked_iterative, needs_schedstat, watch
from planted_delays import EVENTS

files = planted_delays.files


# ---- for the GIL, for a core ---------------------------------------------------------


class Spins(processor.ProcessorABC):
    """Uses the CPU for a while."""

    cpu_s = 0.3

    def process(self, events):
        before = Clocks.outside()
        until = time.thread_time() + self.cpu_s
        while time.thread_time() < until:
            pass
        type(self).clocks = before.passed()
        return {"n": len(events)}

    def postprocess(self, accumulator):
        return None


class Contested(Spins):
    """Another thread does so, too."""

    def process(self, events):
        done = threading.Event()
        other = threading.Thread(target=self.spin, args=(done,))
        other.start()
        try:
            return Spins.process(self, events)
        finally:
            done.set()
            other.join()

    def spin(self, done):
        while not done.is_set():
            pass


@pytest.fixture
def spun(tmp_path, files):
    """Runs an analysis in one chunk; the chunk, and the clocks in its process()."""

    def run(kind):
        executor = clocked_iterative(tmp_path)
        (chunk,) = watch(
            executor, tmp_path, files["ttree"], kind(), chunksize=EVENTS
        ).chunks
        return chunk, kind.clocks

    return run


@pytest.fixture
def shared_core():
    """A core for this thread and a process that spins on it."""
    cores = os.sched_getaffinity(0)
    core = min(cores)
    script = (
        f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\n"
        "while True: pass"
    )
    os.sched_setaffinity(0, {core})
    with subprocess.Popen(
        [sys.executable, "-S", "-c", script], stdout=subprocess.PIPE
    ) as other:
        try:
            other.stdout.readline()
            yield
        finally:
            other.kill()
            os.sched_setaffinity(0, cores)


TURN_S = 0.02  # of another thread, which may come between the readings of two clocks


@needs_schedstat
def test_fighting_for_the_gil_is_blocked(spun):
    chunk, clocks = spun(Contested)
    blocked = chunk.record["split"]["blocked"]
    assert blocked >= clocks.waited - clocks.runqueue - TURN_S
    assert blocked <= chunk.outer.waited - chunk.outer.runqueue + TURN_S
    assert blocked >= 0.2 * (clocks.wall - clocks.runqueue)


@needs_schedstat
def test_another_process_on_the_core_is_the_run_queue(spun, shared_core):
    chunk, clocks = spun(Spins)
    queued = chunk.record["split"]["runqueue"]
    assert clocks.runqueue - TURN_S <= queued <= chunk.outer.runqueue + TURN_S
    assert queued >= 0.2 * clocks.wall


@needs_schedstat
def test_computing_is_on_the_cpu(spun):
    chunk, clocks = spun(Spins)
    used = chunk.record["split"]["on_cpu"]
    assert Spins.cpu_s <= used
    assert clocks.cpu <= used <= chunk.outer.cpu + 1e-3


# ---- for the garbage collector -------------------------------------------------------


class Littering(processor.ProcessorABC):
    """Leaves work to the garbage collector, which is told to do it."""

    runs = 4

    def process(self, events):
        for _ in range(self.runs):
            for _ in range(10_000):
                circle = []
                circle.append(circle)
            gc.collect()
        return {"n": len(events)}

    def postprocess(self, accumulator):
        return None


@pytest.fixture
def collections():
    """CPU seconds of each garbage collection, by a callback of the test's own; none
    comes by itself."""
    seconds, begin = [], [0.0]

    def note(phase, info):
        if phase == "start":
            begin[0] = time.thread_time()
        else:
            seconds.append(time.thread_time() - begin[0])

    gc.disable()
    gc.callbacks.append(note)
    yield seconds
    gc.callbacks.remove(note)
    gc.enable()


def test_garbage_collections_are_counted(collections, files):
    runner = make_runner(chunksize=EVENTS)
    with roastcoffea.monitor(track_workers=False) as collector:
        runner(fileset_of(files["ttree"]), processor_instance=Littering())
    (record,) = collector.chunk_metrics
    assert record["gc_runs"] == len(collections) == Littering.runs
    assert record["gc_time"] == pytest.approx(sum(collections), rel=0.05, abs=1e-3)
    assert record["gc_time"] <= sum(record["ladder"].values())
    metrics = collector.get_metrics()
    assert metrics["gc_runs"] == record["gc_runs"]
    assert metrics["gc_seconds"] == pytest.approx(record["gc_time"])
