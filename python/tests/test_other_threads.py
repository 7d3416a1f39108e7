# SPDX-License-Identifier: BSD-3-Clause
"""Threads that process() starts: their CPU time is not that of the chunk's thread."""

from __future__ import annotations

import concurrent.futures
import threading

import pytest
from coffea import processor

from clusters import on_dask, shared_client
from collector_helpers import CHUNKS, Plain, fileset_of, iterative
from faulty_analyses import diagnose, let_the_gil_go

client = pytest.fixture(scope="module")(shared_client)

THREADS, EACH_S = 2, 0.8
OTHERS_S = CHUNKS * THREADS * EACH_S
METRIC = "other_threads_cpu_seconds"


class Starting(Plain):
    """Two threads compute while that of the chunk waits for them."""

    def process(self, events):
        threads = [
            threading.Thread(target=let_the_gil_go, args=(events, EACH_S))
            for _ in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"n": len(events)}


class Alone(Plain):
    def process(self, events):
        let_the_gil_go(events, EACH_S)
        return {"n": len(events)}


def processes(**options):
    return processor.FuturesExecutor(workers=2, status=False, **options)


def check_said(run):
    finding = run.of("other_threads")
    assert OTHERS_S <= run.metrics[METRIC] <= 1.5 * OTHERS_S
    assert "other threads of the worker processes used " in finding["evidence"]
    assert "OMP_NUM_THREADS" in finding["advice"]
    assert run.metrics["cpu_time_seconds"] < OTHERS_S


@pytest.mark.parametrize("executor", [iterative, processes])
def test_threads_of_process(executor, tiny_file):
    check_said(diagnose(executor(), fileset_of(tiny_file), Starting()))


def test_threads_of_process_on_dask(client, tiny_file):
    check_said(diagnose(on_dask(client), fileset_of(tiny_file), Starting()))


@pytest.mark.parametrize("executor", [iterative, processes])
def test_chunks_in_their_own_thread(executor, tiny_file):
    run = diagnose(executor(), fileset_of(tiny_file), Alone())
    run.lacks("other_threads")
    assert 0 <= run.metrics[METRIC] < CHUNKS * EACH_S / 4


def test_threads_of_the_client_merge_and_are_not_compared(tiny_file):
    executor = processes(pool=concurrent.futures.ThreadPoolExecutor)
    run = diagnose(executor, fileset_of(tiny_file), Alone())
    run.lacks("other_threads")
    assert METRIC not in run.metrics
