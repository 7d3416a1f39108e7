# SPDX-License-Identifier: BSD-3-Clause
"""A user's own backend: called at the right moments, its samples and spans kept, its
failures reported."""

from __future__ import annotations

import datetime
import importlib.metadata
import time

import pytest
from coffea import processor

from collector_helpers import EVENTS, Plain, fileset_of, make_runner
from roastcoffea import MetricsCollector
from roastcoffea.backends import registry
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.backends.local import LocalMetricsBackend
from roastcoffea.run_recorder import RunRecorder


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


def test_backend_does_not_sample_workers_if_tracking_is_off():
    backend = Backend()
    with MetricsCollector(None, backend=backend, track_workers=False) as collector:
        pass
    assert [call[0] for call in backend.calls] == ["create_span", "get_span_metrics"]
    assert collector.tracking_data is None


@pytest.mark.parametrize("fails", ["start_tracking", "stop_tracking", "create_span"])
def test_error_of_a_backend_is_reported_not_raised(fails, tiny_file):
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


# ---- the registry --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (None, LocalMetricsBackend),
        (processor.IterativeExecutor(), LocalMetricsBackend),
        (processor.FuturesExecutor(), LocalMetricsBackend),
        (processor.DaskExecutor(), DaskMetricsBackend),
        (processor.Runner(processor.DaskExecutor()), DaskMetricsBackend),
    ],
)
def test_backend_of_an_executor(given, kind):
    assert registry.kind_of(given) is kind


@pytest.mark.parametrize("kind", sorted({*registry.KINDS.values()}, key=repr))
def test_what_a_backend_declares_is_known_to_c(kind):
    """Its sources exist, and what it cannot know is the reason of some metrics."""
    backend = object.__new__(kind)
    recorder = RunRecorder()
    recorder.use_backend(backend)
    recorder.core.watch(1.0, recorder.sources)
    recorder.core.unwatch()
    recorder.finish(time.monotonic_ns())
    reasons = {*recorder.core.metrics(False)["unavailable"].values()}
    assert {*backend.cannot_know().values()} <= reasons


def test_unknown_source_is_refused():
    with pytest.raises(KeyError, match="telepathy"):
        RunRecorder().core.watch(1.0, ("telepathy",))


def test_optional_methods_have_defaults():
    backend = Backend()
    assert not backend.matches(None)
    assert not backend.is_connected()
    assert not backend.is_local
    assert (backend.sources(), backend.cannot_know()) == ((), {})


def test_subclass_of_ours_is_used_through_its_own_methods(tiny_file):
    """It may sample in another way than the class that it derives from."""

    class Own(Backend, DaskMetricsBackend):
        pass

    backend = Own()
    metrics = run(MetricsCollector(None, backend=backend), tiny_file)
    assert [call[0] for call in backend.calls][:2] == ["start_tracking", "create_span"]
    assert metrics["peak_memory_bytes"] == 5e9
