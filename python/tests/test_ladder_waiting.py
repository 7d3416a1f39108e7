# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for data, against a server that answers late and notes when it was busy."""

from __future__ import annotations

import time
from pathlib import Path

import awkward as ak
import pytest
import uproot
from coffea import processor
from coffea.processor import Runner
from uproot.source.http import MultithreadedHTTPSource

import planted_delays
import roastcoffea
from collector_helpers import fileset_of, iterative, make_runner
from ladder_clocks import NS, needs_schedstat
from planted_delays import EVENTS
from slow_server import serve

files = planted_delays.files
LONG_DELAY_S = 0.4  # a tenth is more than what threads hold each other up
SOURCES = {
    "fsspec": {},
    "HTTPSource": {"handler": uproot.HTTPSource},
    "MultithreadedHTTPSource": {"handler": MultithreadedHTTPSource},
}


@pytest.fixture(scope="module")
def server(files):
    yield from serve(files["ttree"].parent)


def run_queues():
    """{thread of this process: seconds it waited for a core}."""
    seconds = {}
    for path in Path("/proc/self/task").glob("*/schedstat"):
        try:
            seconds[path.parent.name] = int(path.read_text().split()[1]) * NS
        except OSError:  # it has ended
            continue
    return seconds


class Window:
    """When something was done, and how long threads waited for a core meanwhile."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.queues, self.queued = run_queues(), -self.server.queued_s
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *exception):
        self.end = time.perf_counter()
        self.queued += self.server.queued_s + sum(
            seconds - self.queues.get(thread, 0.0)
            for thread, seconds in run_queues().items()
        )

    def busy(self):
        """How long the server was, and by how much that may be off: 10 % or 20 ms, and
        what the machine kept threads from doing."""
        seconds = self.server.busy_s(self.begin, self.end)
        assert seconds >= self.server.delay_s
        return seconds, max(0.1 * seconds, 0.02) + self.queued


class Reads(processor.ProcessorABC):
    """Reads one column; a server may fail meanwhile, which does not matter."""

    def __init__(self, server, status=0):
        self.server = server
        self.status = status

    def process(self, events):
        self.server.status = self.status
        before_s, self.server.delay_s = self.server.delay_s, LONG_DELAY_S
        with Window(self.server) as self.window:
            try:
                ak.sum(events.value)
            except Exception:
                assert self.status
        self.server.status = 0
        self.server.delay_s = before_s
        return {"n": len(events)}

    def postprocess(self, accumulator):
        return None


class Remote:
    """A run over a file of the server, in one chunk."""

    def __init__(self, server, kind, options, **how):
        server.delay_s = 0.05
        self.analysis = Reads(server, **how)
        runner = make_runner(
            iterative(retries=0), chunksize=EVENTS, processor_compression=None
        )
        runner._work_function = self.work
        with roastcoffea.monitor(track_workers=False) as collector:
            runner(
                fileset_of(f"{server.endpoint}/{kind}.root"),
                processor_instance=self.analysis,
                uproot_options=options,
            )
        self.metrics = collector.get_metrics()
        (self.record,) = collector.chunk_metrics

    def work(self, *args, **kwargs):
        with Window(self.analysis.server) as self.window:
            return Runner._work_function(*args, **kwargs)


@pytest.fixture(scope="module", params=SOURCES)
def source(request):
    return request.param


@pytest.fixture(scope="module", params=["ttree", "rntuple"])
def remote(request, source, server):
    return Remote(server, request.param, SOURCES[source])


def test_fetch_is_when_the_server_was_busy_during_process(remote):
    busy, error = remote.analysis.window.busy()
    fetch = remote.record["ladder"]["fetch"]  # a busy machine adds to it
    assert busy - error <= fetch <= remote.record["duration"]


def test_wait_at_the_endpoint_is_all_of_the_chunks(remote):
    """Also for opening and for metadata."""
    (endpoint,) = remote.metrics["per_endpoint"].values()
    busy, error = remote.window.busy()
    ladder = remote.record["ladder"]
    waiting = ladder["open"] + ladder["form"] + ladder["fetch"]
    assert busy - error <= endpoint["wait_seconds"] <= waiting


@needs_schedstat
def test_waiting_for_the_server_is_waiting_for_data(remote):
    busy, error = remote.analysis.window.busy()
    before = remote.record["storage_wait"]  # process(): opening, metadata
    waited = remote.record["split"]["fetch_wait"] - before
    assert waited <= remote.record["ladder"]["fetch"]
    assert waited >= busy - error
    (endpoint,) = remote.metrics["per_endpoint"].values()
    assert 0 < before <= endpoint["wait_seconds"]


def test_endpoint_has_the_bytes_of_the_chunk(remote, source, server):
    assert list(remote.metrics["per_endpoint"]) == [server.endpoint]
    endpoint = remote.metrics["per_endpoint"][server.endpoint]
    names = ("open_bytes", "metadata_bytes", "column_bytes")
    reported = sum(remote.record[name] for name in names)
    if source != "HTTPSource":  # whose substitute does not count for the file
        assert endpoint["bytes"] == reported == remote.metrics["total_bytes_read"]
    assert endpoint["bytes"] >= reported
    assert endpoint["errors"] == 0
    assert 1 <= endpoint["requests"] <= endpoint["ranges"]


@pytest.mark.parametrize("status", [404, 500])
@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_answer_that_is_an_error_counts_as_one(server, source, kind, status):
    remote = Remote(server, kind, SOURCES[source], status=status)
    assert remote.metrics["per_endpoint"][server.endpoint]["errors"] == 1
    busy, error = remote.analysis.window.busy()
    fetch = remote.record["ladder"]["fetch"]  # a busy machine adds to it
    assert busy - error <= fetch <= remote.record["duration"]
