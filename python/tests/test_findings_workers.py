# SPDX-License-Identifier: BSD-3-Clause
"""Diseases of workers: those that come late, and threads that block each other. Each is
named in a run that has it, and is not in one that has not."""

from __future__ import annotations

import functools
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from coffea import processor
from distributed import Client, LocalCluster

from clusters import await_until, on_dask
from collector_helpers import fileset_of
from faulty_analyses import (
    Patient,
    diagnose,
    keep_the_gil,
    let_the_gil_go,
    rest,
    wait_for,
)
from ladder_clocks import needs_schedstat
from scheduler_runs import workers_of


@pytest.fixture(scope="module")
def cluster():
    """Workers of two threads."""
    options = {"threads_per_worker": 2, "dashboard_address": None}
    with LocalCluster(n_workers=1, **options) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster, tiny_file):
    """Of a worker that has imported coffea."""
    with Client(cluster) as client:
        run_on(client, tiny_file, Patient(rest, 0.1))
        yield client


def scale(client, workers):
    client.cluster.scale(workers)
    await_until(lambda: len(workers_of(client)) == workers)


@pytest.fixture
def one_worker(client):
    scale(client, 1)
    return client


@pytest.fixture
def two_workers(client):
    scale(client, 2)
    return client


def run_on(client, file, analysis, **options):
    executor, fileset = on_dask(client), fileset_of(file)
    return diagnose(executor, fileset, analysis, chunksize=500, **options)


# ---- threads -------------------------------------------------------------------------


@needs_schedstat
def test_threads_that_fight_for_the_gil(one_worker, tiny_file):
    run = run_on(one_worker, tiny_file, Patient(keep_the_gil, 0.7))
    finding = run.of("gil")
    assert finding["cost_thread_seconds"] >= 2
    assert "with 2 threads per worker" in finding["evidence"]
    assert finding["advice"] == (
        "one thread per worker: 2 workers x 1 thread, "
        "each with 1/2 of the memory of one now"
    )


@needs_schedstat
def test_threads_that_let_it_go(one_worker, tiny_file):
    run_on(one_worker, tiny_file, Patient(let_the_gil_go, 0.5)).lacks("gil")


def run_in_threads(file, analysis):
    """The same in threads of this process, without any cluster."""
    executor = processor.FuturesExecutor(
        pool=ThreadPoolExecutor, workers=2, status=False
    )
    return diagnose(executor, fileset_of(file), analysis, chunksize=500)


@needs_schedstat
def test_threads_of_a_pool_that_fight_for_the_gil(tiny_file):
    finding = run_in_threads(tiny_file, Patient(keep_the_gil, 1.0)).of("gil")
    assert finding["cost_thread_seconds"] >= 2
    assert "with 2 threads in one process" in finding["evidence"]
    assert "FuturesExecutor(workers=2)" in finding["advice"]


@needs_schedstat
def test_threads_of_a_pool_that_let_it_go(tiny_file):
    run_in_threads(tiny_file, Patient(let_the_gil_go, 0.5)).lacks("gil")


@needs_schedstat
def test_threads_of_a_pool_that_sleep(tiny_file):
    """They are blocked, but not by each other."""
    run = run_in_threads(tiny_file, Patient(rest, 0.5))
    run.lacks("gil")
    assert run.metrics["chunk_split"]["blocked"] > 2
    assert run.metrics["gil_wait_seconds"] < 1


# ---- late workers --------------------------------------------------------------------


LATE_S = 2


def test_workers_that_come_late(one_worker, tiny_file, tmp_path):
    """Chunks wait for the second one, and go on with it for long enough to miss it."""
    there = tmp_path / "there"

    def come():
        time.sleep(LATE_S)
        scale(one_worker, 2)
        there.touch()

    analysis = Patient(wait_for, str(there), 1)
    with ThreadPoolExecutor(1) as pool:
        begin = functools.partial(pool.submit, come)
        run = run_on(one_worker, tiny_file, analysis, before=begin)
    finding = run.of("waiting_for_workers")
    assert finding["cost_thread_seconds"] > 0
    assert "2 of 4 threads at the beginning" in finding["evidence"]
    assert "client.wait_for_workers(2)" in finding["advice"]


def test_workers_that_are_waited_for(two_workers, tiny_file):
    run = run_on(two_workers, tiny_file, Patient(rest, 0.5))
    run.lacks("waiting_for_workers")
    run.lacks("gil")  # threads that rest do not block each other
