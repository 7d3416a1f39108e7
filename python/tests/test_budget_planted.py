# SPDX-License-Identifier: BSD-3-Clause
"""A sleep of 2 s that is planted in a step of a real run, or in the client, is in the
slice of that step to 5 %, on every executor; and the budget adds up.

Other work on the machine only ever adds to slices: so one of a few runs must be close,
and none may have less (what we cost ourselves is taken out of all steps alike).
"""

from __future__ import annotations

import shutil
import time

import pytest
from coffea.nanoevents import BaseSchema

from budget_plants import Planted, slept_s, slow_schema
from clusters import on_dask, open_client
from collecting import fileset_of, iterative, make_runner, open_pool, processes
from roastcoffea import MetricsCollector

client = pytest.fixture(scope="module")(open_client)
pool = pytest.fixture(scope="module")(open_pool)

TRIES = 4
THREADS = {"iterative": 1, "futures": 2, "dask": 2}


@pytest.fixture(params=THREADS)
def place(request):
    return request.param


@pytest.fixture
def executor(place, request):
    if place == "iterative":
        return iterative(retries=0)
    if place == "futures":
        return processes(request.getfixturevalue("pool"))
    return on_dask(request.getfixturevalue("client"))


class Runs:
    """Runs of one executor over the same file."""

    def __init__(self, executor, file, folder):
        self.executor, self.file, self.folder = executor, file, folder
        self.count = 0

    def path(self):
        self.count += 1
        return str(self.folder / str(self.count))

    def run(self, step="", path=""):
        schema = slow_schema(path) if step == "form" else BaseSchema
        runner = make_runner(self.executor, schema=schema, savemetrics=True)
        runner(fileset_of(self.file), processor_instance=Planted(step, path))

    def budget(self, step="", path=""):
        with MetricsCollector(self.executor) as collector:
            self.run(step, path)
        return closed(collector)


@pytest.fixture
def runs(executor, tiny_file, tmp_path):
    runs = Runs(executor, tiny_file, tmp_path)
    runs.budget()  # processes have imported what they need
    return runs


def closed(collector):
    """The budget of a run, which adds up and explains nearly all of itself."""
    metrics = collector.get_metrics()
    budget = metrics["budget"]
    assert sum(budget.values()) == pytest.approx(metrics["offered_thread_seconds"])
    assert min(budget.values()) >= 0
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    return budget


def lands_in(shares, planted, usual):
    """Whether each slice has its share of what was slept: {slice: threads}."""
    for _ in range(TRIES):
        budget, slept = planted()
        for name, threads in shares.items():
            assert budget[name] >= 0.95 * threads * slept, name
        extra = {
            name: budget[name] - usual[name] - threads * slept
            for name, threads in shares.items()
        }
        if max(extra.values()) <= 0.05 * slept:
            return
    pytest.fail(f"beyond what was slept: {extra}")


@pytest.mark.parametrize("step", ["import", "form", "result"])
def test_a_step_of_a_chunk(runs, place, step):
    if step == "result" and place == "iterative":
        pytest.skip("results are not packed there")

    def planted():
        path = runs.path()
        return runs.budget(step, path), slept_s(path)

    lands_in({step: 1}, planted, runs.budget())


MERGING = {
    "iterative": {"reduce": 1},
    "futures": {"idle_reduce": 2},  # in the client, while two processes wait
    "dask": {"reduce": 1, "idle_reduce": 1},
}


def test_merging(runs, place):
    def planted():
        path = runs.path()
        return runs.budget("reduce", path), slept_s(path)

    lands_in(MERGING[place], planted, runs.budget())


def test_the_client_before_between_and_after(runs, place):
    names = ("before", "between", "after")
    shares = {f"idle_client_{name}": THREADS[place] for name in names}

    def two_runs(pause):
        with MetricsCollector(runs.executor) as collector:
            pause()
            runs.run()
            pause()
            runs.run()
            pause()
        return closed(collector)

    def planted():
        return two_runs(lambda: time.sleep(2.0)), 2.0

    lands_in(shares, planted, two_runs(lambda: None))


def test_what_the_client_does_itself_is_busy(tiny_file, tmp_path):
    """On one thread nothing is idle but a little around the run."""
    unknown = shutil.copy(tiny_file, tmp_path / "unknown.root")  # to coffea's cache
    with MetricsCollector() as collector:
        make_runner()(fileset_of(unknown), processor_instance=Planted("", ""))
    budget = closed(collector)
    assert budget["preprocess"] > 0
    assert budget["reduce"] > 0
    assert budget["idle_starved"] == budget["idle_tail"] == 0
    assert collector.get_metrics()["budget_overlap_seconds"] == 0
