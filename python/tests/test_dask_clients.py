# SPDX-License-Identifier: BSD-3-Clause
"""Several clients of one scheduler in one block, one of which may be closed."""

from __future__ import annotations

import threading

import pytest
from distributed import Client

from clusters import await_until, dask_runner, shared_client
from collector_helpers import CHUNKS, Measured, fileset_of
from roastcoffea import MetricsCollector, monitor
from roastcoffea.dask.watch import Watch
from scheduler_client import surroundings

DEADLINE_S = 60.0

client = pytest.fixture(scope="module")(shared_client)


def test_one_client_after_another(client, tiny_file):
    address = client.scheduler.address
    before = surroundings(client)
    with monitor() as run:
        for chunks in (CHUNKS, 2 * CHUNKS):
            with Client(address, set_as_default=False) as own:
                dask_runner(own)(fileset_of(tiny_file), processor_instance=Measured())
                await_until(lambda chunks=chunks: chunk_tasks(run) == chunks)
    check_both(run)
    before.check()


def test_the_first_of_two_clients_is_closed(client, tiny_file):
    address = client.scheduler.address
    before = surroundings(client)
    first = Client(address, set_as_default=False)
    with (
        Client(address, set_as_default=False) as second,
        MetricsCollector(first) as collector,
    ):
        dask_runner(first)(fileset_of(tiny_file), processor_instance=Measured())
        await_until(lambda: chunk_tasks(collector.run) == CHUNKS)
        first.close()
        dask_runner(second)(fileset_of(tiny_file), processor_instance=Measured())
    check_both(collector.run)
    assert collector.span_metrics
    before.check()


def chunk_tasks(run):
    """What was pulled so far; the rest is lost with the client."""
    return run.get_metrics().get("tasks_by_kind", {}).get("chunk", {}).get("count", 0)


def check_both(run):
    assert run.get_metrics()["monitor_errors"] == 0, run._notes.first_error
    assert len(run.chunk_metrics) == 2 * CHUNKS
    assert all(record["worker"] for record in run.chunk_metrics)
    assert chunk_tasks(run) == 2 * CHUNKS
    assert any("client was closed" in remark for remark in run._notes.remarks)


def test_the_end_waits_for_no_start_in_another_thread(client, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def start(watch):
        begun.set()
        go_on.wait(DEADLINE_S)

    monkeypatch.setattr(Watch, "start", start)
    with monitor() as run:
        watches = run._recorder.on_dask()
        thread = threading.Thread(target=watches.add, args=(client,))
        thread.start()
        assert begun.wait(DEADLINE_S)
        watches.end()
        assert not go_on.is_set()
        assert thread.is_alive()
        go_on.set()
        thread.join()
        watches.add(client)
        assert watches._watches == []  # none is watched after the end


def test_one_scheduler_of_two_names_is_watched_once(client, tiny_file):
    port = client.scheduler.address.rpartition(":")[2]
    with (
        Client(f"tcp://localhost:{port}", set_as_default=False) as other,
        MetricsCollector(client) as collector,
    ):
        assert other.scheduler.address != client.scheduler.address
        dask_runner(other)(fileset_of(tiny_file), processor_instance=Measured())
        assert len(collector._recorder.on_dask()._watches) == 1
    assert collector.get_metrics()["monitor_errors"] == 0, (
        collector.run._notes.first_error
    )
    assert len(collector.chunk_metrics) == chunk_tasks(collector.run) == CHUNKS


def test_a_run_keeps_no_client(client):
    with MetricsCollector(client) as collector:
        (watch,) = collector._recorder.on_dask()._watches
    assert collector._recorder.on_dask()._watches == []
    assert "pages" not in watch._last_answer
    assert watch._installation._plugin == b""
