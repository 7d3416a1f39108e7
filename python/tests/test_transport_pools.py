# SPDX-License-Identifier: BSD-3-Clause
"""Records arrive once whatever pool, merging or compression coffea is told to use, and
whatever other collectors exist."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import threading

import pytest
from coffea.processor import FuturesExecutor, accumulate

from outputs import (
    OUTPUTS,
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
from support import KEY

CHUNK = 100
KINDS = ["dict", "custom object"]  # one that carries records, one that cannot
kinds = pytest.mark.parametrize("kind", KINDS)
starts = pytest.mark.parametrize("start", ["fork", "spawn"])


def expected(kind):
    return accumulate([OUTPUTS[kind](n) for n in range(0, 3000, CHUNK)])


def check(collector, output, path, kind):
    """Nothing is lost, nothing there twice, nothing changed."""
    assert same(settled(without_records(output)[0]), settled(expected(kind)))
    assert places(collector.chunk_metrics) == once(path, CHUNK)
    assert len(identities(collector.chunk_metrics)) == 3000 // CHUNK
    metrics = collector.get_metrics()
    assert metrics["losses"] == {}
    assert metrics["failures"] == []
    assert metrics["monitor_errors"] == 0
    assert os.getpid() not in {chunk["pid"] for chunk in collector.chunk_metrics}


OPTIONS = {
    "no compression": {"compression": None},
    "merging": {"merging": True},
    "merging, no compression": {"merging": (5, 4, 100), "compression": None},
    "mergepool": {"merging": (5, 4, 100), "mergepool": 2},
    "recoverable": {"recoverable": True},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@kinds
def test_options_of_the_executor(kind, options, tiny_file):
    with MetricsCollector() as collector:
        output = run(Measured(kind), tiny_file, processes(**options), CHUNK)
    check(collector, output, tiny_file, kind)


RUNNER = {
    "processor not compressed": ({"processor_compression": None}, lambda out: out),
    "report": ({"savemetrics": True}, lambda out: out[0]),
    "result": ({"use_result_type": True, "skipbadfiles": True}, lambda out: out.value),
}


@pytest.mark.parametrize(("options", "output_of"), RUNNER.values(), ids=RUNNER)
@kinds
def test_options_of_the_runner(kind, options, output_of, tiny_file):
    with MetricsCollector() as collector:
        result = run(Measured(kind), tiny_file, processes(), CHUNK, **options)
    check(collector, output_of(result), tiny_file, kind)


def process_pool(start):
    context = multiprocessing.get_context(start)
    return concurrent.futures.ProcessPoolExecutor(1, mp_context=context)


@starts
def test_pool_of_the_standard_library_serves_two_collectors(start, tiny_file):
    """The pool starts in the first block and outlives it."""
    seen = []
    with process_pool(start) as pool:
        executor = FuturesExecutor(pool=pool, status=False)
        for kind in KINDS:
            with MetricsCollector(executor) as collector:
                output = run(Measured(kind), tiny_file, executor, CHUNK)
            check(collector, output, tiny_file, kind)
            seen.append(collector.chunk_metrics)
    assert not identities(seen[0]) & identities(seen[1])
    assert {chunk["pid"] for chunk in seen[0]} & {chunk["pid"] for chunk in seen[1]}


def test_pool_is_usable_after_the_collector_left(tiny_file):
    with MetricsCollector() as collector:
        run(Measured("dict"), tiny_file, processes(), CHUNK)
    known = identities(collector.chunk_metrics)
    after = run(Measured("dict"), tiny_file, processes(), CHUNK)
    assert KEY not in after
    assert same(settled(after), settled(expected("dict")))
    assert identities(collector.chunk_metrics) == known


def test_two_runs_in_one_block_are_both_there(tiny_file):
    with MetricsCollector() as collector:
        first = run(Measured("dict"), tiny_file, processes(), CHUNK)
        second = run(Measured("dict"), tiny_file, processes(), CHUNK)
    assert not identities(first[KEY]) & identities(second[KEY])
    everything = identities(first[KEY]) | identities(second[KEY])
    assert identities(collector.chunk_metrics) == everything
    twice = once(tiny_file, CHUNK) + once(tiny_file, CHUNK)
    assert places(collector.chunk_metrics) == twice


def test_undecorated_chunks_are_counted_in_processes_too(tiny_file):
    with MetricsCollector() as collector:
        output = run(Analysis("dict"), tiny_file, processes(), CHUNK)
    assert KEY not in output
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == 3000 // CHUNK
    assert metrics["failures"] == []


@kinds
def test_package_pickled_by_value(kind, tiny_file, by_value):
    with MetricsCollector() as collector:
        output = run(Measured(kind), tiny_file, processes(), CHUNK)
    check(collector, output, tiny_file, kind)


# ---- several collectors ------------------------------------------------------------


@kinds
def test_nested_collectors_get_every_record(kind, tiny_file):
    with MetricsCollector() as outer, MetricsCollector() as inner:
        output = run(Measured(kind), tiny_file, processes(), CHUNK)
    check(outer, output, tiny_file, kind)
    check(inner, output, tiny_file, kind)
    assert identities(outer.chunk_metrics) == identities(inner.chunk_metrics)


def test_collector_that_left_first_misses_later_runs(tiny_file):
    with MetricsCollector() as outer:
        with MetricsCollector() as inner:
            run(Measured("dict"), tiny_file, processes(), CHUNK)
        run(Measured("dict"), tiny_file, processes(), CHUNK)
    assert places(inner.chunk_metrics) == once(tiny_file, CHUNK)
    assert len(outer.chunk_metrics) == 2 * len(inner.chunk_metrics)


def test_two_threads_with_two_pools_do_not_mix(tiny_file):
    collectors, outputs = {}, {}
    both = threading.Barrier(2, timeout=60)

    def work(kind):
        with process_pool("spawn") as pool:
            executor = FuturesExecutor(pool=pool, status=False)
            with MetricsCollector() as collectors[kind]:
                both.wait()
                outputs[kind] = run(Measured(kind), tiny_file, executor, CHUNK)
                both.wait()

    threads = [threading.Thread(target=work, args=(kind,)) for kind in KINDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kind in KINDS:
        check(collectors[kind], outputs[kind], tiny_file, kind)
    left, right = (identities(c.chunk_metrics) for c in collectors.values())
    assert not left & right
