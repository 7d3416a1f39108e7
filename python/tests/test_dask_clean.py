# SPDX-License-Identifier: BSD-3-Clause
"""A run leaves nothing of ours on the scheduler and its workers, however it ends."""

from __future__ import annotations

import threading

import pytest
from distributed import Client

from clusters import (
    Histograms,
    Stumbling,
    Surrounded,
    dask_runner,
    shared_client,
    worker_modules,
)
from collector_helpers import Failing, Measured, fileset_of
from roastcoffea import MetricsCollector
from roastcoffea.dask.spans import new_mark
from roastcoffea.dask.watch import Watch
from scheduler_client import surroundings

client = pytest.fixture(scope="module")(shared_client)


@pytest.fixture
def cluster(client, tiny_file):
    """Compared before and after; coffea is imported on the workers by then."""
    dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
    surrounded = surroundings(client)
    modules = client.run(worker_modules)
    yield client
    surrounded.check()
    assert client.run(worker_modules) == modules


def test_nothing_is_left_of_a_run(cluster, tiny_file):
    with MetricsCollector(cluster):
        dask_runner(cluster)(fileset_of(tiny_file), processor_instance=Measured())


def test_nothing_is_left_of_an_empty_block(cluster):
    with MetricsCollector(cluster):
        pass


def test_nothing_is_left_of_many(cluster, tiny_file):
    for analysis in (Measured(), Histograms(), Measured()):
        with MetricsCollector(cluster), MetricsCollector(cluster):
            dask_runner(cluster)(fileset_of(tiny_file), processor_instance=analysis)


def test_nothing_is_left_of_failures(cluster, tiny_file, tmp_path):
    fileset, runner = fileset_of(tiny_file), dask_runner(cluster)
    with MetricsCollector(cluster):
        runner(fileset, processor_instance=Stumbling(tmp_path, {0, 1000}))
    failing = Failing(ValueError("no luck"))
    with pytest.raises(Exception, match="no luck"), MetricsCollector(cluster):
        runner(fileset, processor_instance=failing)


def test_nothing_is_left_of_tasks_that_go_on_at_the_end(cluster):
    import time

    with MetricsCollector(cluster):
        futures = cluster.map(time.sleep, [0.5, 0.5], pure=False)
    cluster.gather(futures)


def test_nothing_is_left_when_the_client_goes(cluster):
    """It never says goodbye; the scheduler hears that its client is gone."""
    with Client(cluster.scheduler.address, set_as_default=False) as other:

        class Core:
            def __init__(self):
                self.got_some = threading.Event()

            def add_batch(self, batch, offset_ns, reader):
                self.got_some.set()

        core = Core()
        watch = Watch(other, core, new_mark(), 1.0)
        assert watch.start()
        assert core.got_some.wait(60)
        assert not watch.errors
        assert watch.mark in Surrounded(cluster).before["scheduler"]["plugins"]


def test_the_next_run_sees_workers_of_before(cluster, tiny_file):
    for _ in range(2):
        with MetricsCollector(cluster) as collector:
            dask_runner(cluster)(fileset_of(tiny_file), processor_instance=Measured())
        assert collector.get_metrics()["peak_workers"] == 2
