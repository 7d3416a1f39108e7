# SPDX-License-Identifier: BSD-3-Clause
"""A sleep of 2 s that is planted in a step of a real run, or in the client, is in the
slice of that step to 5 %, on every executor; and the budget adds up.

Other work on the machine only ever adds to slices: so no run may have less than was
slept, and what a slice has beyond it is the least of a few runs.
"""

from __future__ import annotations

import shutil

import pytest
from coffea.nanoevents import BaseSchema

from clusters import on_dask, shared_client
from collector_helpers import fileset_of, iterative, make_runner, open_pool, processes
from planted_sleeps import Planted, sleep_once, slept_s, slow_schema
from roastcoffea import MetricsCollector

client = pytest.fixture(scope="module")(shared_client)
pool = pytest.fixture(scope="module")(open_pool)

TRIES = 8
CLOSE = 0.05
THREADS = {"iterative": 1, "futures": 2, "dask": 2}
MERGING = {
    "iterative": {"reduce": 1},
    "futures": {"idle_reduce": 2},  # in the client, while two processes wait
    "dask": {"reduce": 1, "idle_reduce": 1},
}


@pytest.fixture(params=THREADS, scope="module")
def place(request):
    return request.param


@pytest.fixture(scope="module")
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

    def plant(self, names):
        """Where each sleep of a run to come will say how long it took."""
        self.count += 1
        return {name: str(self.folder / f"{name}-{self.count}") for name in names}

    def run(self, plants):
        schema = slow_schema(plants["form"]) if "form" in plants else BaseSchema
        runner = make_runner(self.executor, schema=schema, savemetrics=True)
        runner(fileset_of(self.file), processor_instance=Planted(plants))

    def budget(self, block, plants):
        with MetricsCollector(self.executor) as collector:
            block(self, plants)
        return closed(collector)


@pytest.fixture(scope="module")
def runs(executor, tiny_file, tmp_path_factory):
    runs = Runs(executor, tiny_file, tmp_path_factory.mktemp("planted"))
    runs.run({})  # processes have imported what they need
    return runs


def closed(collector):
    """The budget of a run, which adds up."""
    metrics = collector.get_metrics()
    budget = metrics["budget"]
    assert sum(budget.values()) == pytest.approx(metrics["offered_thread_seconds"])
    assert min(budget.values()) >= 0
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    return budget


def lands_in(shares, runs, block):
    """Each slice has its share of what a plant slept: {slice: (plant, threads)}."""
    usual = runs.budget(block, {})
    beyond = dict.fromkeys(shares, float("inf"))
    for _ in range(TRIES):
        plants = runs.plant(plant for plant, _ in shares.values())
        budget = runs.budget(block, plants)
        for name, (plant, threads) in shares.items():
            planted_s = threads * slept_s(plants[plant])
            assert budget[name] >= (1 - CLOSE) * planted_s, name
            extra = (budget[name] - usual[name]) / planted_s - 1
            beyond[name] = min(beyond[name], extra)
        if max(beyond.values()) <= CLOSE:
            return
    pytest.fail(f"beyond what was slept: {beyond}")


def test_steps_of_a_chunk(runs, place):
    """Except that results are not packed where they are made."""
    steps = ("import", "form", *(["result"] if place != "iterative" else []))
    lands_in({step: (step, 1) for step in steps}, runs, Runs.run)


def in_and_around_two_runs(runs, plants):
    """The client sleeps before, between and after them, and the first one merges."""
    merging = {step: path for step, path in plants.items() if step == "reduce"}
    sleep_once(plants.get("before", ""))
    runs.run(merging)
    sleep_once(plants.get("between", ""))
    runs.run({})
    sleep_once(plants.get("after", ""))


def test_merging_and_the_client(runs, place):
    shares = {name: ("reduce", threads) for name, threads in MERGING[place].items()}
    for name in ("before", "between", "after"):
        shares[f"idle_client_{name}"] = (name, THREADS[place])
    lands_in(shares, runs, in_and_around_two_runs)


def test_what_the_client_does_itself_is_busy(tiny_file, tmp_path):
    """On one thread nothing is idle but a little around the run."""
    unknown = shutil.copy(tiny_file, tmp_path / "unknown.root")  # to coffea's cache
    with MetricsCollector() as collector:
        make_runner()(fileset_of(unknown), processor_instance=Planted({}))
    budget = closed(collector)
    assert budget["preprocess"] > 0
    assert budget["reduce"] > 0
    assert budget["idle_starved"] == budget["idle_tail"] == 0
    assert collector.get_metrics()["budget_overlap_seconds"] == 0
