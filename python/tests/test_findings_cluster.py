# SPDX-License-Identifier: BSD-3-Clause
"""Diseases of runs on a cluster of two workers: a slow file, heavy outputs, tasks that
are too short, a slow notebook, other people's tasks. Each is named in a run that has
it, and is not in a healthy one, in which there is nothing to change."""

from __future__ import annotations

import functools
import importlib
import shutil
import sys
import time

import pytest
from distributed import Client

from clusters import await_until, on_dask, shared_client
from collector_helpers import EVENTS, fileset_of
from faulty_analyses import (
    Large,
    Patient,
    answer_at_once,
    answer_late,
    diagnose,
    give_heavy,
    rest,
    rest_in,
)
from roastcoffea import MetricsCollector

client = pytest.fixture(scope="module")(shared_client)

TRIES = 4
add_one = functools.partial(int.__add__, 1)
OF_OTHERS = {"overloaded", "no_work_sent"}  # they take cores of the scheduler, too
WORK_S = 0.3


@pytest.fixture(scope="module")
def warm(client, tiny_file):
    """A client whose workers have imported what a run needs."""
    run_on(client, tiny_file, Patient(rest, 0.1), chunks=4)
    return client


def run_on(client, file, analysis, chunks, **options):
    size = -(-EVENTS // chunks)
    files = file if isinstance(file, list) else [file]
    executor = on_dask(client)
    return diagnose(executor, fileset_of(*files), analysis, chunksize=size, **options)


# ---- health --------------------------------------------------------------------------


def healthy_run(client, file):
    return run_on(client, file, Patient(rest, WORK_S), chunks=24)


@pytest.fixture(scope="module")
def healthy(warm, tiny_file):
    """Unless other work on the machine is in its way, every time."""
    runs = [healthy_run(warm, tiny_file)]
    while runs[-1].findings.keys() - OF_OTHERS and len(runs) < TRIES:
        runs.append(healthy_run(warm, tiny_file))
    return runs[-1]


def test_a_healthy_run_has_nothing_to_change(healthy):
    assert healthy.verdict.startswith("Nothing to change") or healthy.findings, healthy
    assert healthy.findings.keys() <= OF_OTHERS, healthy
    assert "your process()" in healthy.verdict


DISEASES = (
    *("failures", "workers_died", "chunks_too_small", "waiting_for_data"),
    *("waiting_for_workers", "last_chunks", "gil", "memory_leak"),
    *("spilling", "merging", "tasks_too_short", "client_imports", "foreign_tasks"),
)


@pytest.mark.parametrize("disease", DISEASES)
def test_a_healthy_run_does_not_have(healthy, disease):
    healthy.lacks(disease)


# ---- chunks and tasks ----------------------------------------------------------------


def test_one_slow_file(warm, tiny_file, tmp_path):
    names = (*(f"{n}.root" for n in range(7)), "slow.root")  # the last one starts late
    files = [shutil.copy(tiny_file, tmp_path / name) for name in names]
    analysis = Patient(rest_in, "slow.root", 4, 0.5)
    run = run_on(warm, files, analysis, chunks=1)
    finding = run.first("last_chunks")
    assert "slow.root on " in finding["evidence"]
    host = run.metrics["stragglers"][0]["host"]
    assert f"slow.root on {host}, " in finding["evidence"]
    assert "slow.root first in the fileset; see why it took" in finding["advice"]
    assert run.metrics["stragglers"][0]["file"].endswith("slow.root")


@pytest.fixture
def far_away(warm):
    """Workers that answer late, as if they were far from their scheduler."""
    warm.run(answer_late)
    yield warm
    warm.run(answer_at_once)


def test_tasks_too_short(far_away, tiny_file):
    run = run_on(far_away, tiny_file, Patient(rest, 0.01), chunks=100)
    finding = run.of("tasks_too_short")
    assert " in all for 100 chunks of " in finding["evidence"]
    assert "chunksize=" in finding["advice"]
    assert "(now 30)" in finding["advice"]


def test_tasks_that_are_worth_the_way(far_away, tiny_file):
    run = run_on(far_away, tiny_file, Patient(rest, 0.6), chunks=12)
    run.lacks("tasks_too_short")


def test_tasks_of_the_users_own_that_are_too_short(far_away):
    with MetricsCollector(far_away) as collector:
        far_away.gather(far_away.map(add_one, range(400)))
    metrics = collector.get_metrics()
    finding = next(row for row in metrics["findings"] if row["id"] == "tasks_too_short")
    assert " in all for 400 tasks of " in finding["evidence"]
    assert "more work in each task: 200 of these calls in one" in finding["advice"]


# ---- datasets ------------------------------------------------------------------------


def test_a_slow_dataset_that_comes_last(warm, tiny_file, tmp_path):
    """Its last chunk runs alone, unless the dataset comes first."""
    fast = [shutil.copy(tiny_file, tmp_path / f"{i}.root") for i in range(2)]
    slow = shutil.copy(tiny_file, tmp_path / "slow.root")
    datasets = {"fast": fileset_of(*fast)["ttbar"], "slow": fileset_of(slow)["ttbar"]}
    analysis = Patient(rest_in, "slow.root", 1.2, 0.2)
    options = {"chunksize": EVENTS // 3}
    for _ in range(TRIES):  # other work may keep the scheduler from sending chunks
        run = diagnose(on_dask(warm), datasets, analysis, **options)
        if "uneven_datasets" in run.findings:
            break
    finding = run.of("uneven_datasets")
    assert finding["advice"] == "put slow first in the fileset"
    run.lacks("last_chunks")
    first = dict(reversed(datasets.items()))
    diagnose(on_dask(warm), first, analysis, **options).lacks("uneven_datasets")


# ---- outputs -------------------------------------------------------------------------


def test_heavy_outputs(warm, tiny_file):
    run = run_on(warm, tiny_file, Patient(give_heavy, 0.5), chunks=8)
    finding = run.first("merging")
    assert finding["cost_thread_seconds"] >= 3
    assert " merging, " in finding["evidence"]
    assert "smaller outputs" in finding["advice"]


# ---- the notebook, and others --------------------------------------------------------


def test_imports_in_the_block(warm, tiny_file, tmp_path, monkeypatch):
    (tmp_path / "slow_corrections.py").write_text("import time\ntime.sleep(2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    imports = functools.partial(importlib.import_module, "slow_corrections")
    run = run_on(warm, tiny_file, Patient(rest, 0.1), chunks=4, before=imports)
    del sys.modules["slow_corrections"]
    finding = run.first("client_imports")
    assert finding["cost_thread_seconds"] >= 3.9
    assert "with 2 threads waiting" in finding["evidence"]
    assert "before the block" in finding["advice"]


def test_a_large_processor(warm, tiny_file):
    """It is packed in the Runner's call and unpacked for each chunk: neither is code of
    the block, and importing coffea earlier would not help."""
    run = run_on(warm, tiny_file, Large(rest, 0.1), chunks=12)
    finding = run.of("large_processor")
    assert finding["cost_thread_seconds"] >= 10 * 0.4  # two are the first ones
    assert "unpacking it in 10 chunks" in finding["evidence"]
    assert "before the first chunk, in which coffea packs" in finding["evidence"]
    budget = run.metrics["budget"]
    idle_s = budget["idle_client_between"] + budget["idle_client_after"]
    busy_s = run.findings.get("client_busy", {}).get("cost_thread_seconds", 0)
    assert busy_s < idle_s
    imports_s = run.findings.get("worker_imports", {}).get("cost_thread_seconds", 0)
    assert imports_s < budget["import"] + budget["dispatch_first"]


def test_tasks_of_another_client(warm, tiny_file):
    with Client(warm.cluster, set_as_default=False) as other:
        sleeps = [other.submit(time.sleep, 4, pure=False) for _ in range(2)]
        await_until(lambda: len(other.processing()) == 2)
        run = run_on(warm, tiny_file, Patient(rest, 0.1), chunks=4)
        del sleeps
    finding = run.first("foreign_tasks")
    assert "of worker time" in finding["evidence"]
    assert "cluster of your own" in finding["advice"]
