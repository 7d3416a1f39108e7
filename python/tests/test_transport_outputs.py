# SPDX-License-Identifier: BSD-3-Clause
"""Many chunks of every kind of output, in this thread, in threads and in processes: the
physics is that of an undecorated run, each record arrives once."""

from __future__ import annotations

import concurrent.futures
import functools
import os

import numpy as np
import pytest
import uproot
from coffea.processor import FuturesExecutor, IterativeExecutor

from outputs import (
    CARRIERS,
    RUNNABLE,
    Analysis,
    Measured,
    identities,
    once,
    places,
    processes,
    run,
    same,
    settled,
    without_records,
)
from roastcoffea import MetricsCollector
from support import waiting

EVENTS = 3000
TWENTY, MANY = 150, 15  # events of a chunk, so that there are 20 or 200 of them
ONE_OF_EACH_WAY = ("dict", "DataFrame")  # records travel in the output, or beside it
PLACES = ("iterative", "threads", "processes")
QUICK = [
    *((where, kind, TWENTY) for where in PLACES for kind in RUNNABLE),
    *(("processes", kind, MANY) for kind in ONE_OF_EACH_WAY),
]
LONG = [
    pytest.param(where, kind, MANY, marks=pytest.mark.long)
    for where in PLACES
    for kind in RUNNABLE
    if (where, kind, MANY) not in QUICK
]


@pytest.fixture(scope="module")
def narrow_file(tmp_path_factory):
    """One branch: what takes time below is opening the file for every chunk."""
    path = tmp_path_factory.mktemp("narrow") / "narrow.root"
    with uproot.recreate(path) as root:
        root["Events"] = {"x": np.arange(EVENTS, dtype=np.float32)}
    return path


def make_executor(where):
    if where == "processes":
        return processes()
    if where == "threads":
        pool = concurrent.futures.ThreadPoolExecutor
        return FuturesExecutor(pool=pool, workers=2, status=False)
    return IterativeExecutor(status=False)


@functools.cache
def undecorated(kind, path, size):
    """What coffea makes of the same chunks without a collector."""
    return run(Analysis(kind), path, IterativeExecutor(status=False), size)


@pytest.mark.parametrize(("where", "kind", "size"), [*QUICK, *LONG])
def test_every_record_arrives_once(where, kind, size, narrow_file):
    analysis = Measured(kind)
    with MetricsCollector() as collector:
        output = run(analysis, narrow_file, make_executor(where), size)
    output, carried = without_records(output)
    assert same(settled(output), settled(undecorated(kind, narrow_file, size)))
    chunks = collector.chunk_metrics
    expected = once(narrow_file, size)
    assert places(chunks) == expected
    assert len(identities(chunks)) == len(expected)
    assert {chunk["chunk_id"] for chunk in chunks} == set(range(len(expected)))
    assert {chunk["num_events"] for chunk in chunks} == {size}
    assert identities(analysis._chunk_metrics) == identities(chunks)
    assert identities(carried) == (identities(chunks) if kind in CARRIERS else set())
    assert len(carried) in (0, len(expected))
    assert_nothing_lost(collector.get_metrics(), len(expected))
    pids = {chunk["pid"] for chunk in chunks}
    assert (os.getpid() in pids) == (where != "processes")
    assert waiting() == []


def assert_nothing_lost(metrics, count):
    assert metrics["num_chunks"] == count
    assert metrics["total_events"] == EVENTS
    assert metrics["losses"] == {}
    assert metrics["failures"] == []
    assert metrics["monitor_errors"] == 0
    assert not metrics["partial"]
