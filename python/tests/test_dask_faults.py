# SPDX-License-Identifier: BSD-3-Clause
"""Workers that are killed, schedulers that vanish, clients that die: the physics result
is what it would be without us, and what was measured is kept."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from distributed import Client

from clusters import (
    Calling,
    Dying,
    Received,
    await_until,
    dask_runner,
    open_client,
    start_cluster,
    wait_for_file,
)
from collector_helpers import Measured, Plain, fileset_of, starts
from roastcoffea import MetricsCollector, monitor, open_run
from roastcoffea.dask.watch import Watch, Watches
from scheduler_client import forget, nothing_left, surroundings

HERE = Path(__file__).parent
CHUNKS = 6
SHORT_S = 0.2  # for an answer that will not come
STARTS = [500 * i for i in range(CHUNKS)]

client = pytest.fixture(scope="module")(open_client)


@pytest.fixture(scope="module")
def expected(client, tiny_file):
    runner = dask_runner(client, CHUNKS)
    return runner(fileset_of(tiny_file), processor_instance=Plain())[0]


# ---- workers -------------------------------------------------------------------------


@pytest.mark.parametrize("entries", [{0}, {500, 1000, 2500}], ids=str)
def test_a_killed_worker_costs_nothing_but_time(
    client, tiny_file, tmp_path, expected, entries, monkeypatch
):
    received = Received(monkeypatch)
    with MetricsCollector(client) as collector:
        output, _ = dask_runner(client, CHUNKS)(
            fileset_of(tiny_file), processor_instance=Dying(tmp_path, entries)
        )
        output = collector.extract_metrics_from_output(output)
    client.wait_for_workers(2, timeout=120)
    assert output == expected
    metrics = collector.get_metrics()
    ok = [r for r in collector.chunk_metrics if r["status"] == "ok"]
    assert starts(ok) == STARTS
    assert metrics["num_successful_chunks"] == CHUNKS
    assert len(received.left) == len(entries)
    lost = [task for task in received.tasks if task["end"] == "lost"]
    chunks = [task for task in lost if task["prefix"] == "Dying" and task["ours"]]
    assert len(chunks) >= len(entries)
    assert metrics["num_lost_attempts"] >= len(entries)


def test_idle_worker_delays_no_other(client, tiny_file):
    """Its last seconds are not known, and that is said."""
    pids = client.run(os.getpid)
    frozen = sorted(pids)[0]
    with MetricsCollector(client) as collector:
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        os.kill(pids[frozen], signal.SIGSTOP)
    os.kill(pids[frozen], signal.SIGCONT)
    assert len(collector.chunk_metrics) == 3
    assert any("did not answer" in remark for remark in collector.run._notes.remarks)
    assert collector.t_end is not None
    await_until(lambda: nothing_left(client))


# ---- the block -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)]
)
def test_an_exception_in_the_block_is_the_users(client, tiny_file, error):
    before = surroundings(client)

    def work():
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        raise error

    with pytest.raises(type(error)) as caught, MetricsCollector(client) as collector:
        work()
    assert caught.value is error
    assert len(collector.chunk_metrics) == 3
    assert collector.run.partial
    assert collector.span_metrics
    before.check()


def test_ctrl_c_while_chunks_run(client, tiny_file, tmp_path):
    before = surroundings(client)
    analysis = Calling(tmp_path, wait_for_file)

    def interrupt():
        await_until((tmp_path / "here").exists)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), MetricsCollector(client) as collector:
        dask_runner(client)(fileset_of(tiny_file), processor_instance=analysis)
    thread.join()
    (tmp_path / "go").touch()
    assert collector.run.partial
    before.check()


# ---- the scheduler -------------------------------------------------------------------


def test_a_scheduler_that_goes_away(tiny_file, expected):
    """What came before is kept, and the exception is Dask's own."""
    cluster = start_cluster(1)

    def work(client):
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
        cluster.close()
        return client.submit(abs, -1).result(timeout=30)

    client = Client(cluster, set_as_default=False, timeout=3)
    words = "(?i)closed|cancel|lost|connect"  # Dask's own, whichever comes first
    with pytest.raises(Exception, match=words), monitor() as run:
        work(client)
    client.close()
    assert run.partial
    assert len(run.chunk_metrics) == 3


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    """Leaving takes seconds then, not for ever; what is lost is said."""
    monkeypatch.setattr(Watches.end, "__defaults__", (SHORT_S,))
    file = tmp_path / "scheduler.json"
    arguments = ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "dask", "scheduler", *arguments]
    )
    try:
        await_until(file.exists)
        client = Client(scheduler_file=str(file), set_as_default=False)
        with MetricsCollector(client) as collector:
            scheduler.send_signal(signal.SIGSTOP)
    finally:
        scheduler.kill()
        scheduler.wait()
    client.close(timeout=1)
    assert collector.t_end is not None
    assert "end on the scheduler" in collector.run._notes.first_error


def test_a_client_that_is_closed_in_the_block(tiny_file):
    with start_cluster(1) as cluster:
        client = Client(cluster, set_as_default=False)
        with MetricsCollector(client) as collector:
            dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
            client.close()
        assert len(collector.chunk_metrics) == 3
        with Client(cluster, set_as_default=False) as other:
            await_until(lambda: nothing_left(other))


# ---- the client ----------------------------------------------------------------------

SCRIPT = """
import sys
from pathlib import Path
from distributed import Client
from clusters import Calling, dask_runner, wait_for_file
from collector_helpers import fileset_of
from roastcoffea import MetricsCollector

address, file, folder = sys.argv[1:]
with Client(address) as client, MetricsCollector(client, folder):
    runner = dask_runner(client)
    runner(fileset_of(file), processor_instance=Calling(Path(folder), wait_for_file))
"""


def test_a_killed_client_leaves_nothing_and_its_run_can_be_read(
    client, tiny_file, tmp_path
):
    before = surroundings(client)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    arguments = [client.scheduler.address, str(tiny_file), str(tmp_path)]
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments], env=environment
    )
    await_until((tmp_path / "here").exists)
    assert not nothing_left(client)
    script.kill()
    script.wait()
    (tmp_path / "go").touch()
    before.check()
    run = open_run(tmp_path)
    assert run.partial


def test_a_client_that_slept_installs_its_plugin_again(client, tiny_file):
    """As after a laptop was closed: the scheduler has forgotten the run meanwhile."""
    with MetricsCollector(client) as collector:
        (watch,) = collector._recorder.on_dask()._watches
        client.run_on_scheduler(forget, watch.mark)
        await_until(lambda: watch.installed_again)
        dask_runner(client)(fileset_of(tiny_file), processor_instance=Measured())
    assert starts(collector.chunk_metrics) == [0, 1000, 2000]
    remarks = collector.run._notes.remarks
    assert any("was interrupted once: events are missing" in text for text in remarks)
    assert collector.run.partial
    assert collector.metrics["losses"]["records_missing"] == 1  # how many is not known


def test_chunks_of_the_time_in_which_it_slept_are_counted(
    client, tiny_file, tmp_path, monkeypatch
):
    """No record of them was made: the plugin had left the workers."""
    awake, again = threading.Event(), Watch._begin_again

    async def later(watch):
        while not awake.is_set():
            await asyncio.sleep(0.01)
        await again(watch)

    monkeypatch.setattr(Watch, "_begin_again", later)
    with MetricsCollector(client, tmp_path) as collector:
        run_it = dask_runner(client)
        run_it(fileset_of(tiny_file), processor_instance=Measured())
        (watch,) = collector._recorder.on_dask()._watches
        client.run_on_scheduler(forget, watch.mark)
        run_it(fileset_of(tiny_file), processor_instance=Measured())
        awake.set()
        await_until(lambda: watch.installed_again)
        run_it(fileset_of(tiny_file), processor_instance=Measured())
    for run in (collector.run, open_run(collector.measurement_path)):
        metrics = run.get_metrics()
        lost = metrics["losses"]["records_missing"]
        assert (metrics["num_chunks_processed"], lost) == (6, 3)
        assert run.partial
        assert run.info["partial"]
