# SPDX-License-Identifier: BSD-3-Clause
"""Nothing of the scheduler part is left, and it needs nothing of ours."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import cloudpickle
import pytest
from distributed import Client, get_worker

import scheduler_runs
from roastcoffea.dask import install
from scheduler_runs import (
    DEADLINE_S,
    Run,
    cluster_of,
    ours,
    soon_gone,
    traces_of,
    until,
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    """Two workers that no test harms."""
    with cluster_of(2) as client:
        yield client


def say(mark: str, data: bytes) -> str:
    worker = get_worker()
    key = worker.get_current_task()
    worker.log_event(mark, [worker.address, key, data])
    return worker.address


def test_nothing_is_left_after_a_stop(shared: Client) -> None:
    run = Run(shared, interval=0.05, limits={"again_s": 0.05}).start()
    with ours(run):
        shared.gather(shared.map(say, [run.mark] * 3, [b"x"] * 3, pure=False))
    assert len(traces_of(shared, run.mark)) == 3
    run.stop()
    assert traces_of(shared, run.mark) == []
    shared.log_event(run.mark, ["tcp://late", "key", b"late"])
    soon_gone(shared, run.mark)


def test_nothing_is_left_when_the_client_goes(shared: Client) -> None:
    with Client(shared.cluster, set_as_default=False) as client:
        run = Run(client, interval=0.05).start()
        assert traces_of(shared, run.mark)
    soon_gone(shared, run.mark)


def test_nothing_is_left_without_pulls(shared: Client) -> None:
    run = Run(shared, interval=0.05, limits={"silence_s": 0.1}).start()
    soon_gone(shared, run.mark)
    old = Run(shared, limits={"lifetime_s": 0.0, "silence_s": 0.2}).start()
    soon_gone(shared, old.mark)


def test_a_bare_scheduler_of_its_own(tmp_path: Path) -> None:
    with bare_cluster(tmp_path) as address, Client(address) as client, by_value():
        client.wait_for_workers(1)
        run = Run(client, interval=0.05).start()
        with ours(run):
            assert client.submit(pow, 3, 2).result() == 9
        loaded = client.run_on_scheduler(_modules)
        run.stop()
        assert [task.end for task in run.read.of("pow")] == ["ok"]
        assert loaded == []
        assert client.run_on_scheduler(_modules) == []
        assert traces_of(client, run.mark) == []


@contextlib.contextmanager
def by_value() -> Iterator[None]:
    """Functions of tests are no modules over there."""
    modules = [scheduler_runs, sys.modules[__name__]]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    yield
    for module in modules:
        cloudpickle.unregister_pickle_by_value(module)


def _modules() -> list[str]:
    import sys

    return [name for name in sys.modules if "roastcoffea" in name]


@contextlib.contextmanager
def bare_cluster(folder: Path) -> Iterator[str]:
    """`dask scheduler` and `dask worker`, which do not know our path."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    dask_program = [sys.executable, "-m", "dask"]
    scheduler_file = folder / "scheduler.json"
    options = ["--scheduler-file", str(scheduler_file), "--no-dashboard"]
    started = [
        subprocess.Popen(
            [*dask_program, "scheduler", "--port", "0", *options], env=env, cwd=folder
        )
    ]
    try:
        until(scheduler_file.exists)
        started.append(
            subprocess.Popen([*dask_program, "worker", *options], env=env, cwd=folder)
        )
        client = Client(scheduler_file=str(scheduler_file), set_as_default=False)
        address = client.scheduler.address
        client.close()
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(DEADLINE_S)


def test_its_lists_are_those_of_the_core() -> None:
    from roastcoffea import _core

    assert {
        k: tuple(v) for k, v in _core.batch_items().items()
    } == scheduler_runs.items()
    assert list(_core.series_names()) == scheduler_runs.series()
    made = install.scheduler_payload("mark", "client", None)
    assert set(made) == set(scheduler_runs.payload("mark"))
