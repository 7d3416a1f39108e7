# SPDX-License-Identifier: BSD-3-Clause
"""A user's own backend: asked at the right moments, its samples and spans kept, its
failures told."""

from __future__ import annotations

import datetime
import importlib.metadata

import pytest

from collecting import EVENTS, Plain, fileset_of, make_runner
from roastcoffea import MetricsCollector
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.local import LocalMetricsBackend


def run(collector, tiny_file):
    with collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    return collector.get_metrics()


class Backend(AbstractMetricsBackend):
    """Counts its calls; two workers, one of which it has a value of."""

    def __init__(self, fails=()):
        self.calls = []
        self.fails = fails

    def note(self, name, *arguments):
        self.calls.append((name, *arguments))
        if name in self.fails:
            raise OSError(f"{name} failed")

    def start_tracking(self, interval):
        self.note("start_tracking", interval)

    def stop_tracking(self):
        self.note("stop_tracking")
        now = datetime.datetime.now(datetime.UTC)
        return {
            "worker_counts": {now: 2},
            "worker_memory": {"far": [(now, 5e9)]},
            "worker_mood": {"far": [(now, "good")]},
        }

    def create_span(self, name):
        self.note("create_span")
        return "span"

    def get_span_metrics(self, span_info):
        self.note("get_span_metrics", span_info)
        return {("execute", "Plain", "thread-cpu", "seconds"): 1.0}

    def supports_fine_metrics(self):
        return True


def test_backend_of_the_users_is_used(tiny_file):
    backend = Backend()
    collector = MetricsCollector(None, backend=backend, worker_tracking_interval=0.5)
    metrics = run(collector, tiny_file)
    assert backend.calls == [
        ("start_tracking", 0.5),
        ("create_span",),
        ("stop_tracking",),
        ("get_span_metrics", "span"),
    ]
    assert metrics["peak_memory_bytes"] == 5e9
    assert "worker_mood" in collector.tracking_data
    assert collector.span_metrics == metrics["raw_span_metrics"] != {}


def test_backend_is_not_asked_for_workers_that_nobody_wants():
    backend = Backend()
    with MetricsCollector(None, backend=backend, track_workers=False) as collector:
        pass
    assert [call[0] for call in backend.calls] == ["create_span", "get_span_metrics"]
    assert collector.tracking_data is None


@pytest.mark.parametrize("fails", ["start_tracking", "stop_tracking", "create_span"])
def test_failing_backend_is_told_not_raised(fails, tiny_file):
    metrics = run(MetricsCollector(None, backend=Backend(fails)), tiny_file)
    assert metrics["total_events"] == EVENTS
    assert f"{fails} failed" in metrics["monitor_first_error"]


def test_backend_is_found_by_its_entry_point(monkeypatch):
    class Entry:
        name = "mine"

        def load(self):
            return lambda client: Backend()

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry()])
    assert isinstance(MetricsCollector(None, backend="mine").backend, Backend)
    assert isinstance(MetricsCollector(None, "mine").backend, Backend)
    assert isinstance(MetricsCollector(None).backend, LocalMetricsBackend)
