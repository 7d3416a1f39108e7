# SPDX-License-Identifier: BSD-3-Clause
"""A backend of the user's own, passed to the collector.

All its methods are called, its data is used, unknown parts of it are kept, and its
errors are counted and shown, never raised.
"""

from __future__ import annotations

import datetime as dt

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

import roastcoffea
from roastcoffea.backends.base import AbstractMetricsBackend

GB = 10**9
SPAN = {("execute", "Analysis-1", "thread-cpu", "seconds"): 1.5}
METHODS = [
    "start_tracking",
    "supports_fine_metrics",
    "create_span",
    "stop_tracking",
    "get_span_metrics",
]


class Backend(AbstractMetricsBackend):
    """Writes down what it is asked, and gives what it was told to give."""

    def __init__(self, tracking=None, *, fine=True, failing=(), error=RuntimeError):
        self.tracking = tracking or (lambda begin, end: {})
        self.fine = fine
        self.failing = failing
        self.error = error
        self.requested = []

    def note(self, method, *arguments):
        self.requested.append((method, *arguments))
        if method in self.failing:
            raise self.error(f"in {method}")

    def start_tracking(self, interval):
        self.begin = dt.datetime.now(dt.UTC)
        self.note("start_tracking", interval)

    def stop_tracking(self):
        self.note("stop_tracking")
        return self.tracking(self.begin, dt.datetime.now(dt.UTC))

    def create_span(self, name):
        self.note("create_span", name)
        return {"id": name}

    def get_span_metrics(self, span_info):
        self.note("get_span_metrics", span_info)
        return SPAN

    def supports_fine_metrics(self):
        self.note("supports_fine_metrics")
        return self.fine


class Analysis(processor.ProcessorABC):
    def process(self, events):
        return {"events": len(events.event)}

    def postprocess(self, accumulator):
        return accumulator


@pytest.fixture
def collect(tiny_file):
    """Runs the analysis under a collector with a backend."""

    def collect(backend, **options):
        executor = processor.IterativeExecutor(status=False)
        runner = processor.Runner(executor, schema=BaseSchema, chunksize=1000)
        files = {"ttbar": {"files": {str(tiny_file): "Events"}}}
        with roastcoffea.MetricsCollector(
            executor, backend=backend, **options
        ) as collector:
            output = runner(files, processor_instance=Analysis())
        assert output["events"] == 3000
        return collector

    return collect


def documented(begin, end):
    """Samples of two workers in the documented shape; one has a limit."""
    return {
        "worker_counts": {begin: 2, end: 4},
        "worker_memory": {
            "a": [(begin, 1 * GB), (end, 3 * GB)],
            "b": [(begin, 2 * GB), (end, 2 * GB)],
        },
        "worker_memory_limit": {"a": [(begin, 4 * GB), (end, 4 * GB)]},
        "worker_cores": {"a": [(begin, 8), (end, 8)], "b": [(begin, 8), (end, 8)]},
    }


def naive(begin, end):
    """The same, with times in UTC that do not say so, as 0.1.2 had them."""
    return documented(begin.replace(tzinfo=None), end.replace(tzinfo=None))


# ---- the methods that are called ------------------------------------------------


def test_all_five_methods_are_called_once_and_in_order(collect):
    backend = Backend()
    collect(backend, worker_tracking_interval=0.25)
    assert [method for method, *_ in backend.requested] == METHODS
    assert backend.requested[0] == ("start_tracking", 0.25)
    (_, name), (_, span) = backend.requested[2], backend.requested[4]
    assert span == {"id": name}


def test_each_block_uses_the_backend_again(collect):
    backend = Backend()
    first = collect(backend)
    collect(backend)
    assert [method for method, *_ in backend.requested] == METHODS * 2
    assert first.span_metrics == SPAN


def test_backend_without_spans_gets_no_span_calls(collect):
    backend = Backend(fine=False)
    collector = collect(backend)
    requested = [method for method, *_ in backend.requested]
    assert requested == ["start_tracking", "supports_fine_metrics", "stop_tracking"]
    assert collector.span_metrics == {}


def test_backend_does_not_sample_when_workers_are_not_tracked(collect):
    backend = Backend(documented)
    collector = collect(backend, track_workers=False)
    requested = {method for method, *_ in backend.requested}
    assert not {"start_tracking", "stop_tracking"} & requested
    assert collector.tracking_data is None
    assert collector.get_metrics()["peak_workers"] == 1


@pytest.mark.parametrize("missing", METHODS)
def test_object_that_lacks_a_method_is_refused(missing):
    methods = {name: lambda self: None for name in METHODS if name != missing}
    partial = type("Partial", (), methods)()
    with pytest.raises(ValueError, match=rf"^Unsupported backend: .*{missing}"):
        roastcoffea.MetricsCollector(None, backend=partial)


def test_object_with_the_methods_needs_no_base_class(collect):
    alike = type("Alike", (), {name: getattr(Backend, name) for name in METHODS})()
    alike.note = lambda *_: None
    alike.fine, alike.tracking = False, documented
    assert collect(alike).get_metrics()["peak_workers"] == 4


# ---- what it reports -----------------------------------------------------------------


@pytest.mark.parametrize("tracking", [documented, naive])
def test_its_samples_give_the_worker_metrics(collect, tracking):
    metrics = collect(Backend(tracking)).get_metrics()
    assert metrics["peak_workers"] == 4
    assert metrics["avg_workers"] == pytest.approx(3)
    assert metrics["avg_workers_simple"] == 3
    assert metrics["cores_per_worker"] == pytest.approx(8)
    assert metrics["total_cores"] == pytest.approx(24)
    assert metrics["peak_memory_bytes"] == 3 * GB
    assert metrics["peak_memory"]["worker"] == "a"
    assert metrics["avg_memory_per_worker_gb"] == pytest.approx(2)
    assert metrics["memory_utilization_max_percent"] == pytest.approx(75)
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]


def test_without_counts_the_executor_gives_the_number_of_workers(collect):
    collector = collect(Backend(lambda *_: {"mine": 1}))
    assert collector.get_metrics()["peak_workers"] == 1
    assert collector.get_metrics()["total_cores"] == 1


def test_unknown_keys_are_carried_along_as_they_are(collect, tmp_path):
    opaque = object()
    extra = {"queue": {"depth": [1, 2]}, "opaque": opaque, "none": None}
    collector = collect(Backend(lambda *times: documented(*times) | extra))
    for key, value in extra.items():
        assert collector.tracking_data[key] is value
    assert collector.get_metrics()["tracking_data"]["opaque"] is opaque
    loaded, _, _ = roastcoffea.load_measurement(collector.save_measurement(tmp_path))
    assert loaded["tracking_data"]["queue"] == {"depth": [1, 2]}
    assert (
        loaded["tracking_data"]["worker_counts"]
        == (collector.tracking_data["worker_counts"])
    )


def test_spans_are_given_as_they_came(collect):
    collector = collect(Backend())
    assert collector.span_metrics == SPAN
    assert collector.get_metrics()["raw_span_metrics"] == SPAN


NOW = dt.datetime.now(dt.UTC)
ODD = {
    "counts that are none": {"worker_counts": {NOW: "many", NOW.year: None}},
    "counts out of range": {"worker_counts": {NOW: -1, dt.datetime.max: 2}},
    "counts without end": {"worker_counts": {NOW: float("inf"), float("inf"): 1}},
    "counts as a list": {"worker_counts": [3, 4]},
    "samples that are none": {"worker_memory": {"a": [(NOW, "x"), 7, (NOW,)], "b": 3}},
    "samples out of range": {"worker_memory": {"a": [(NOW, float("nan")), (NOW, -5)]}},
    "samples as text": {"worker_memory": {"a": "abc", "b": b"abc"}, "worker_cpu": "x"},
    "names that are none": {"worker_memory": {("t", 1): [(NOW, 1)], "\udc80": []}},
    "keys that are none": {5: {"a": [(NOW, 1)]}, None: None},
    "huge numbers": {"worker_memory": {"a": [(NOW, 1e300), (1e300, 1)]}},
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_samples_do_no_harm(collect, odd):
    collector = collect(Backend(lambda *_: ODD[odd]))
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 0, metrics["monitor_first_error"]
    assert metrics["peak_workers"] == 1
    assert metrics.get("peak_memory_bytes", 1) > 0
    assert {key: collector.tracking_data[key] for key in ODD[odd]} == ODD[odd]
    assert "\nTiming Breakdown\n" in collector.run._page("text")


# ---- what goes wrong in it ---------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_error_in_it_is_counted_and_shown(collect, method):
    collector = collect(Backend(documented, failing=(method,)))
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 1
    assert f"{method}() of the backend" in metrics["monitor_first_error"]
    assert f"in {method}" in metrics["monitor_first_error"]
    assert "\nmonitor errors: 1\n" in collector.run._page("text")
    assert metrics["num_attempts"] == 3
    assert metrics["partial"] is False


def test_tracking_that_is_no_mapping_is_an_error_of_the_backend(collect):
    metrics = collect(Backend(lambda *_: 7)).get_metrics()
    assert metrics["monitor_errors"] == 1
    assert metrics["peak_workers"] == 1


def test_ctrl_c_while_it_starts_leaves_nothing_behind(collect):
    before = processor.Runner.run
    backend = Backend(failing=("start_tracking",), error=KeyboardInterrupt)
    collector = roastcoffea.MetricsCollector(None, backend=backend)
    with pytest.raises(KeyboardInterrupt), collector:
        pytest.fail("the block was entered")
    assert processor.Runner.run is before
    assert collector.t_end is not None
    backend.failing = ()
    with collector:
        pass
