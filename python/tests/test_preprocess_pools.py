# SPDX-License-Identifier: BSD-3-Clause
"""Files whose entries a pool reads: recorded as tasks, and in the budget.

Where the client is the only worker, and on Dask, test_collector_preprocess.py and
test_dask_tasks.py look.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
import uproot

from collector_helpers import (
    Measured,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
    threads,
)
from roastcoffea import MetricsCollector, spool
from roastcoffea.coffea import client_work
from roastcoffea.coffea.work_function import FILE_READS

pool = pytest.fixture(scope="module")(open_pool)

FILES = 4
OPEN_S = 0.1


def slow_to_open():
    """A source that travels by value."""

    class SlowToOpen(uproot.MemmapSource):
        def __init__(self, *args, **options):
            time.sleep(OPEN_S)
            uproot.MemmapSource.__init__(self, *args, **options)

    return SlowToOpen


@pytest.fixture
def files(tiny_file, tmp_path):
    paths = [tmp_path / f"{number}.root" for number in range(FILES)]
    for path in paths:
        shutil.copy(tiny_file, path)
    return paths


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where spools are."""
    found = tmp_path / "tmp"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


def run(executor, files):
    options = {"uproot_options": {"handler": slow_to_open()}}
    with MetricsCollector(executor) as collector:
        runner = make_runner(executor)
        runner(fileset_of(*files), processor_instance=Measured(), **options)
    return collector.run


def requested(run):
    """How many files were read, according to the run."""
    return sum(run._core.tasks_seen()["ours"].values())


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_files_that_a_pool_reads_are_its_work(kind, files, folder, request):
    pool = request.getfixturevalue("pool") if kind == "processes" else None
    found = run(processes(pool) if pool else threads(), files)
    metrics = found.metrics
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert requested(found) == FILES
    budget = metrics["budget"]
    assert budget["preprocess"] >= FILES * OPEN_S
    assert sum(budget.values()) == pytest.approx(metrics["offered_thread_seconds"])
    assert min(budget.values()) >= 0
    assert metrics["num_chunks_processed"] == 3 * FILES  # asking is no chunk
    assert not os.listdir(folder)


def test_files_that_the_client_reads_beside_a_pool_are_not(pool, files, folder):
    """Its pool has nothing to do meanwhile."""
    executor = processes(pool)
    with MetricsCollector(executor) as collector:
        runner = make_runner(executor, pre_executor=iterative())
        runner(fileset_of(*files), processor_instance=Measured())
    assert requested(collector.run) == 0
    assert collector.get_metrics()["budget"]["preprocess"] == 0


def test_notes_of_a_killed_collector_are_removed_with_its_spool(folder):
    left = Path(tempfile.mkdtemp(prefix=spool.PREFIX))
    (left / FILE_READS).write_text("1 2\n")
    made = spool.make()
    assert not left.exists()
    (Path(made) / FILE_READS).write_text("1 2\n")
    spool.remove(made)
    assert not os.listdir(folder)


def test_notes_that_make_no_sense_are_left_out(files, folder, monkeypatch, pool):
    """Of another machine, or of a process that was killed as it wrote."""
    real = client_work._taken_notes

    def odd(folder):
        now_ns = time.monotonic_ns()
        with open(os.path.join(folder, FILE_READS), "a") as file:
            file.write(f"1 2\n{now_ns} {now_ns - 5}\n{now_ns} {2 * now_ns}\n17")
        return real(folder)

    monkeypatch.setattr(client_work, "_taken_notes", odd)
    found = run(processes(pool), files)
    assert found.metrics["monitor_errors"] == 0
    assert requested(found) == FILES
