# SPDX-License-Identifier: BSD-3-Clause
"""The budget of real runs: nothing negative, all of it the threads that were offered,
and what is not explained is small, wherever chunks run and whatever goes wrong."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path

import pytest
from coffea.nanoevents import NanoAODSchema

from clusters import Dying, dask_runner, on_dask, open_client, shared_client
from collector_helpers import (
    EVENTS,
    Measured,
    fileset_of,
    iterative,
    make_runner,
    open_pool,
    processes,
)
from roastcoffea import MetricsCollector, track_metrics

client = pytest.fixture(scope="module")(shared_client)
pool = pytest.fixture(scope="module")(open_pool)

MOST_PERCENT = 2.0
MOST_PERCENT_AFTER_A_KILL = 4.0
SOME, MANY = 60, 200
BUSY_S = 0.03


class Busy(Measured):
    """Chunks that are not so short that the way to them counts."""

    @track_metrics
    def process(self, events):
        end = time.thread_time() + BUSY_S
        while time.thread_time() < end:
            pass
        return {"events": len(events)}


def check(metrics, most_percent=MOST_PERCENT):
    """Slices are what was offered, and known."""
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    budget = metrics["budget"]
    assert min(budget.values()) >= 0, budget
    offered = metrics["offered_thread_seconds"]
    assert math.isclose(sum(budget.values()), offered, rel_tol=1e-9)
    assert metrics["unexplained_percent"] <= most_percent, budget
    path = metrics["critical_path"]
    length = sum(row["waited"] + row["seconds"] for row in path)
    assert math.isclose(length, metrics["wall_time"], rel_tol=1e-9), path
    assert min(row["waited"] for row in path) >= 0 < min(row["seconds"] for row in path)
    for by in ("dataset", "worker", "host"):
        rows = metrics[f"budget_by_{by}"]
        assert all(seconds >= 0 for row in rows.values() for seconds in row.values())


PLACES = ("iterative", "futures", "dask")


@pytest.mark.parametrize(
    ("place", "chunks"),
    [
        *((place, SOME) for place in PLACES),
        *(pytest.param(place, MANY, marks=pytest.mark.long) for place in PLACES),
    ],
)
def test_many_small_chunks(place, chunks, request, tiny_file):
    executor = {
        "iterative": iterative,
        "futures": lambda: processes(request.getfixturevalue("pool")),
        "dask": lambda: on_dask(request.getfixturevalue("client")),
    }[place]()
    runner = make_runner(executor, chunksize=EVENTS // chunks, savemetrics=True)
    with MetricsCollector(executor) as collector:
        runner(fileset_of(tiny_file), processor_instance=Busy())
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == chunks
    check(metrics)
    steps = [row for row in metrics["critical_path"] if row["part"] == "chunk"]
    on_path = sum(row["count"] for row in steps)
    assert on_path == chunks if place == "iterative" else 1 < on_path < chunks
    assert {row["status"] for row in steps if row["count"] == 1} <= {"ok", None}
    assert steps[-1]["file"] == str(tiny_file)
    if place == "futures":  # two processes; twice as many are not replayed in a pool
        (half,) = metrics["other_workers"]
        assert half["workers"] == 1
        assert half["wall_seconds"] > metrics["wall_time"]


def test_workers_of_two_threads(tiny_file):
    for two in open_client(workers=1, threads_per_worker=2):
        with MetricsCollector(two) as collector:
            runner = dask_runner(two, chunks=60)
            runner(fileset_of(tiny_file), processor_instance=Busy())
    metrics = collector.get_metrics()
    assert metrics["cores_per_worker"] == 2
    check(metrics)


def test_a_killed_worker_and_a_file_that_is_gone(tiny_file, tmp_path):
    gone = tmp_path / "gone.root"
    dying = Dying(tmp_path, {1000})
    for own in open_client():
        with MetricsCollector(own) as collector:
            runner = dask_runner(own, chunks=60, skipbadfiles=True)
            runner(fileset_of(tiny_file, gone), processor_instance=dying)
    metrics = collector.get_metrics()
    assert metrics["num_lost_workers"] == 1
    check(metrics, MOST_PERCENT_AFTER_A_KILL)


@pytest.mark.long
@pytest.mark.timeout(1800)  # minutes, on a busy machine
def test_the_example_with_200_chunks(client, tmp_path):
    sys.path.append(str(Path(__file__).parents[2] / "examples"))
    from make_samples import fileset, write_samples
    from ttbar import TtbarProcessor

    write_samples(tmp_path)
    client.run(sys.path.append, os.fspath(Path(__file__).parents[2] / "examples"))
    runner = dask_runner(client, chunks=EVENTS // 200, schema=NanoAODSchema)
    with MetricsCollector(client) as collector:
        runner(fileset(tmp_path, "physics"), processor_instance=TtbarProcessor())
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == 200
    check(metrics)
