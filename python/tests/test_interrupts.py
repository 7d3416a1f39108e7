# SPDX-License-Identifier: BSD-3-Clause
"""A Ctrl-C, or what a handler of the user's raises, at any line of our code: it reaches
the user, everything is restored, nothing is lost, and the next run is complete."""

from __future__ import annotations

import contextlib
import signal

import pytest
import uproot

import roastcoffea
from collector_helpers import (
    Measured,
    Plain,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    starts,
    threads,
)
from interrupts import Alarm, Block, Counting, handled, interrupt_at_random
from roastcoffea import track_bytes, track_metrics
from roastcoffea.export import measurements
from roastcoffea.output_dir import OutputDir
from roastcoffea.run_recorder import RunRecorder

long = (pytest.mark.long, pytest.mark.timeout(4 * 3600))  # on a busy machine
often = pytest.mark.parametrize("times", [pytest.param(200, marks=long)])
pool = pytest.fixture(scope="module")(open_pool)


def runner_of(executor):
    return make_runner(executor, savemetrics=True)


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=long)])
def test_any_line_on_iterative(every, tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    assert block.interrupt_lines(every) == []


@pytest.mark.usefixtures("unmeasured")  # a repeated step may count a result twice
@pytest.mark.parametrize("every", [40, pytest.param(1, marks=long)])
def test_exception_at_any_line(every, tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    assert block.raise_at_lines(every) == []


@pytest.mark.parametrize("every", [100, pytest.param(1, marks=long)])
def test_any_line_on_threads(every, tiny_file, tmp_path):
    block = Block(runner_of(threads(retries=0)), tiny_file, tmp_path)
    assert block.interrupt_lines(every) == []


@pytest.mark.parametrize("every", [100, pytest.param(1, marks=long)])
def test_any_line_on_processes(every, pool, tiny_file, tmp_path):
    block = Block(runner_of(processes(pool, retries=0)), tiny_file, tmp_path)
    assert block.interrupt_lines(every) == []


ENDING = [
    *((RunRecorder, name) for name in ("flush", "end_dask", "finish")),
    *((measurements, name) for name in ("_write_beside", "_sync", "_move")),
    (OutputDir, "save"),
]


@pytest.mark.parametrize("step", ENDING)
def test_alarm_while_a_block_ends_and_saves(step, tiny_file, tmp_path, monkeypatch):
    """As of a batch system that is about to preempt the job."""
    original = getattr(*step)

    def alarmed(*args, **options):
        signal.raise_signal(signal.SIGALRM)
        return original(*args, **options)

    monkeypatch.setattr(*step, alarmed)
    with (
        handled(signal.SIGALRM, error := Alarm()),
        pytest.raises(Alarm) as seen,
        roastcoffea.monitor(tmp_path, measurement_name="x"),
    ):
        make_runner()(fileset_of(tiny_file), Measured())
    assert seen.value is error
    kept = roastcoffea.open_run(tmp_path / "x")
    assert starts(kept.chunk_metrics) == [0, 1000, 2000]
    assert not kept.partial
    assert kept.get_metrics()["monitor_errors"] == 0


class ByteSections(Counting):
    @track_metrics
    def process(self, events):
        self.begun.append(events.metadata["entrystart"])
        with track_bytes(self, events, "read"):
            return Plain.process(self, events)


@contextlib.contextmanager
def alarm_at(kind, name, time, reads):
    """An alarm when a property is read for the ``time``-th time; lists all of them."""
    original = getattr(kind, name)

    def read(self):
        reads.append(name)
        if len(reads) == time:
            signal.raise_signal(signal.SIGALRM)
        return original.fget(self)

    setattr(kind, name, property(read))
    try:
        yield
    finally:
        setattr(kind, name, original)


READ = [
    (uproot.source.chunk.Source, "num_requested_bytes"),
    (uproot.behaviors.TBranch.TBranch, "name"),
]


@pytest.mark.parametrize(("kind", "name"), READ)
def test_alarm_while_a_hook_or_a_section_reads(kind, name, tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    block.analysis = ByteSections()
    block.run(alarm_at(kind, name, 0, []))
    block.run(alarm_at(kind, name, 0, reads := []))
    wrong = []
    for time in range(1, len(reads) + 1, len(reads) // 12 + 1):
        alarm = alarm_at(kind, name, time, [])
        wrong += block.interrupt(signal.SIGALRM, Alarm(), alarm, lambda files: True)
    assert wrong == []


@often
def test_any_time(times, tiny_file, tmp_path):
    block = Block(runner_of(iterative(retries=0)), tiny_file, tmp_path)
    assert interrupt_at_random(block, times) == []


@often
def test_any_time_on_processes(times, pool, tiny_file, tmp_path):
    block = Block(runner_of(processes(pool, retries=0)), tiny_file, tmp_path)
    assert interrupt_at_random(block, times) == []
