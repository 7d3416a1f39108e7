# SPDX-License-Identifier: BSD-3-Clause
"""How runs on Dask end: workers that leave on request, Ctrl-C, a lost scheduler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from distributed import Client

from clusters import Calling, dask_runner, shared_client, start_cluster, wait_for_file
from collector_helpers import fileset_of
from roastcoffea import monitor
from scheduler_runs import DEADLINE_S, until

client = pytest.fixture(scope="module")(shared_client)


def meanwhile(folder, action):
    """Do something when the first chunk is there; then it goes on."""

    def act():
        until(Path(folder, "here").exists)
        action()

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def interrupt_main():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_ctrl_c_cancels_attempts(client, tiny_file, tmp_path):
    runner = dask_runner(client)
    analysis = Calling(tmp_path, wait_for_file)
    thread = meanwhile(tmp_path, interrupt_main)
    try:
        with pytest.raises(KeyboardInterrupt), monitor() as run:
            runner(fileset_of(tiny_file), processor_instance=analysis)
    finally:
        (tmp_path / "go").touch()
        thread.join()
    metrics = run.get_metrics()
    assert run.state == "interrupted"
    assert metrics["num_cancelled_chunks"] >= 1
    assert metrics["lost_workers"] == metrics["failures"] == []
    assert metrics["budget"]["lost"] == 0
    assert metrics["budget"]["cancelled"] > 0
    total = sum(metrics["budget"].values())
    assert total == pytest.approx(metrics["offered_thread_seconds"])


def test_workers_that_left_on_request_are_not_dead(tiny_file, tmp_path):
    """One is scaled away while it works, the other with the cluster in the block."""
    with monitor() as run, start_cluster(2) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)

        def scale():
            cluster.scale(1)
            until(lambda: len(client.scheduler_info()["workers"]) == 1)
            (tmp_path / "go").touch()

        thread = meanwhile(tmp_path, scale)
        analysis = Calling(tmp_path, wait_for_file)
        dask_runner(client)(fileset_of(tiny_file), processor_instance=analysis)
        thread.join()
    metrics = run.get_metrics()
    assert metrics["lost_workers"] == []
    assert metrics["num_lost_workers"] == 0
    assert "workers_died" not in {row["id"] for row in metrics["findings"]}
    assert run.state == "finished"


def test_a_lost_scheduler_is_not_the_users_time(tiny_file, tmp_path):
    """A real one in a process of its own, killed while a chunk runs."""
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    options = ["--scheduler-file", str(file), "--no-dashboard"]
    path = os.pathsep.join(p for p in sys.path if p)
    env = os.environ | {"PYTHONPATH": path}
    started = [
        subprocess.Popen([*dask, "scheduler", "--port", "0", *options], env=env),
        subprocess.Popen([*dask, "worker", *options, "--no-nanny"], env=env),
    ]
    try:
        until(file.exists)
        client = Client(scheduler_file=str(file), timeout=DEADLINE_S)
        client.wait_for_workers(1)
        thread = meanwhile(tmp_path, started[0].kill)
        analysis = Calling(tmp_path, wait_for_file)
        runner = dask_runner(client)
        with (
            pytest.raises(BaseException, match=r"(?i)cancel|lost|connect"),
            monitor() as run,
        ):
            runner(fileset_of(tiny_file), processor_instance=analysis)
        thread.join()
        (tmp_path / "go").touch()
    finally:
        for process in started:
            process.kill()
            process.wait()
    metrics = run.get_metrics()
    assert any("scheduler was lost" in text for text in run._notes.remarks)
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["budget"]["idle_client_between"] < 1
    assert metrics["budget"]["idle_client_after"] < 1
    assert "client_busy" not in {row["id"] for row in metrics["findings"]}
    total = sum(metrics["budget"].values())
    assert total == pytest.approx(metrics["offered_thread_seconds"])
