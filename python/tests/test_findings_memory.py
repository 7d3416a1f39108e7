# SPDX-License-Identifier: BSD-3-Clause
"""Diseases of memory, on workers that may have little: leaking, spilling, being killed
for it. Each is named in a run that has it, and is not in one that has not."""

from __future__ import annotations

import dask
import pytest

from clusters import on_dask, open_client
from collector_helpers import EVENTS, fileset_of
from faulty_analyses import KEPT, Patient, diagnose, give_back, give_much, leak, rest
from memory_hog import Greedy

LIMIT = 1_500_000_000
SPILLS = {  # beyond 45 MB of results, and is left alone otherwise
    "distributed.worker.memory.target": 0.03,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
}


@pytest.fixture(scope="module")
def client(tiny_file):
    with dask.config.set(SPILLS):
        for client in open_client(memory_limit=LIMIT):
            run_on(client, tiny_file, Patient(rest, 0.1), 4)  # which imports
            yield client


def run_on(client, file, analysis, chunks, **options):
    size = -(-EVENTS // chunks)
    executor = on_dask(client, **options)
    return diagnose(executor, fileset_of(file), analysis, chunksize=size)


# ---- leaks ---------------------------------------------------------------------------


def forget():
    KEPT.clear()


def test_memory_that_is_kept(client, tiny_file):
    run = run_on(client, tiny_file, Patient(leak, 40), 20)
    client.run(forget)
    finding = run.of("memory_leak")
    assert "MB per chunk" in finding["evidence"]
    assert "; seen in " in finding["evidence"]
    assert "no lists or caches on self" in finding["advice"]
    assert finding["severity"] == "medium"


def test_memory_that_is_given_back(client, tiny_file):
    run_on(client, tiny_file, Patient(give_back, 40), 20).lacks("memory_leak")


# ---- spilling ------------------------------------------------------------------------


def test_outputs_that_do_not_fit(client, tiny_file):
    run = run_on(client, tiny_file, Patient(give_much, 20), 8)
    finding = run.of("spilling")
    assert "disk" in finding["evidence"]
    assert "memory_limit='" in finding["advice"]


def test_outputs_that_fit(client, tiny_file):
    run_on(client, tiny_file, Patient(give_much, 1), 8).lacks("spilling")


# ---- killed --------------------------------------------------------------------------


def test_a_worker_that_is_killed_for_its_memory(client, tiny_file, tmp_path):
    run = run_on(client, tiny_file, Greedy(tmp_path, 1000, LIMIT), 3)
    finding = run.first("workers_died")
    assert finding["severity"] == "high"
    assert "1 killed for memory" in finding["evidence"]
    assert " of 1.50 GB" in finding["evidence"]
    assert finding["advice"] == "memory_limit='3GB' per worker, or smaller chunks"


def test_workers_that_live(client, tiny_file):
    run_on(client, tiny_file, Patient(rest, 0.1), 3).lacks("workers_died")
