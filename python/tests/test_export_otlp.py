# SPDX-License-Identifier: BSD-3-Clause
"""A run as OTLP/JSON: OpenTelemetry's own classes read it, and it is the run."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_pb2

from roastcoffea import Run, open_run
from saved_run_samples import measured
from support import ROOT
from traced_runs import (
    EPOCH_NS,
    FAILED,
    MS,
    NAMES,
    RUN_ID,
    SECOND,
    attempt,
    begun,
    hostile,
    opened,
    run_of,
    shown,
)

FIXTURES = ROOT / "tests" / "fixtures" / "runfiles"
REQUESTS = {
    "resourceSpans": trace_pb2.ExportTraceServiceRequest,
    "resourceMetrics": metrics_pb2.ExportMetricsServiceRequest,
}
ERROR = 2


def with_base64(value: Any, key: str = "") -> Any:
    """OTLP has ids in hex, unlike JSON of other protobuf."""
    if isinstance(value, dict):
        return {name: with_base64(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [with_base64(each, key) for each in value]
    if key.endswith(("traceId", "spanId", "SpanId")):
        return base64.b64encode(bytes.fromhex(value)).decode()
    return value


def read(path: Path) -> dict[str, list[Any]]:
    """The requests of each kind; a reader that ignores nothing."""
    found: dict[str, list[Any]] = {kind: [] for kind in REQUESTS}
    text = path.read_text("ascii")
    assert text.endswith("\n")
    for line in text.splitlines():
        request = with_base64(json.loads(line))
        (kind,) = request
        found[kind].append(json_format.ParseDict(request, REQUESTS[kind]()))
    return found


def attributes(item: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value"))
        for each in item.attributes
    }


class Exported:
    def __init__(self, run: Run, folder: Path) -> None:
        path = folder / "run.jsonl"
        run.export("otlp", path)
        found = read(path)
        self.resources = [
            attributes(each.resource)
            for request in found["resourceSpans"]
            for each in request.resource_spans
        ]
        self.spans = [
            span
            for request in found["resourceSpans"]
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        self.metrics = {
            metric.name: metric
            for request in found["resourceMetrics"]
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }
        self.by_id = {span.span_id: span for span in self.spans}
        assert len(self.by_id) == len(self.spans)

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def path(self, span: Any) -> list[str]:
        names = [span.name]
        while span.parent_span_id:
            span = self.by_id[span.parent_span_id]
            names.append(span.name)
        return names[::-1]


def length(span: Any) -> int:
    return int(span.end_time_unix_nano - span.start_time_unix_nano)


def made(folder: Path, *frames: bytes, **options: Any) -> Exported:
    return Exported(opened(run_of(*frames, **options), folder), folder)


@pytest.fixture(scope="module")
def real(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    run = measured(tiny_file, fails=True)
    return run, Exported(run, tmp_path_factory.mktemp("real"))


def test_spans_are_a_tree_of_the_run(real: Any) -> None:
    run, exported = real
    paths = Counter(tuple(exported.path(span)) for span in exported.spans)
    attempts = sum(
        number is not None and seconds is not None and start is not None
        for number, seconds, start in zip(
            run.tasks["attempt"], run.tasks["duration"], run.tasks["start"], strict=True
        )
    )
    assert paths["run",] == paths["run", "Runner.run"] == 1
    assert paths["run", "Runner.run", "preprocessing"] == 1
    assert sum(path[-1] == "chunk" for path in paths.elements()) == attempts
    within = ("run", "Runner.run", "chunk", "selection")
    assert paths[within] == paths[*within, "jets é"] > 0
    assert {span.trace_id.hex() for span in exported.spans} == {run.id}
    assert exported.resources[0]["service.name"] == "Everything"


def test_chunks_have_their_times_and_facts(real: Any) -> None:
    run, exported = real
    chunks = run.chunks
    spans = {
        attributes(span).get("roast.chunk_id"): span for span in exported.named("chunk")
    }
    for row, number in enumerate(chunks["chunk_id"]):
        if chunks["task_time"][row] is None:
            continue
        facts = attributes(spans[number])
        assert length(spans[number]) == round(chunks["task_time"][row] * 1e9)
        assert facts["roast.dataset"] == chunks["dataset"][row]
        assert facts["roast.file"] == chunks["file"][row]
        assert facts["roast.entry_start"] == chunks["entry_start"][row]
        assert facts["roast.num_events"] == chunks["num_events"][row]
        assert facts["process.pid"] == chunks["pid"][row]
        assert facts["thread.id"] == chunks["thread"][row]
        assert facts["host.name"] == chunks["host"][row]
        assert facts["roast.compute_ns"] == round(chunks["compute_s"][row] * 1e9)


def test_failures_have_their_exception(real: Any) -> None:
    _, exported = real
    (span,) = (s for s in exported.named("chunk") if s.status.code == ERROR)
    assert span.status.message == "no such tape"
    (event,) = span.events
    assert event.name == "exception"
    assert attributes(event) == {
        "exception.type": "OSError", "exception.message": "no such tape",
    }  # fmt: skip
    (whole,) = exported.named("run")
    assert whole.status.code == ERROR
    assert attributes(whole)["roast.state"] == "failed"


def test_metrics_are_those_of_the_run(real: Any) -> None:
    run, exported = real
    known = run.get_metrics()
    gauges = {
        name.removeprefix("roast."): metric.gauge.data_points[0]
        for name, metric in exported.metrics.items()
        if metric.HasField("gauge")
    }
    assert len(gauges) > 50
    table = run.table("metrics")
    for name, value in zip(table["name"], table["value"], strict=True):
        assert (name in gauges) == (value is not None)
        if value is not None:
            point = gauges[name]
            assert getattr(point, point.WhichOneof("value")) == value
            assert name not in known or known[name] == value
    assert exported.metrics["roast.wall_time"].unit == "s"
    assert exported.metrics["roast.total_bytes_read"].unit == "By"


def test_exemplars_are_spans_of_chunks(tmp_path: Path) -> None:
    exported = made(
        tmp_path,
        *(attempt(1, n, n * SECOND, duration_ns=n * n * MS) for n in range(1, 10)),
        attempt(1, 10, 20 * SECOND, status=FAILED, duration_ns=900 * MS),
    )
    (point,) = exported.metrics["roast.chunk.process_seconds"].histogram.data_points
    assert sum(point.bucket_counts) == point.count == 9
    assert point.sum == pytest.approx(sum(n * n for n in range(1, 10)) / 1000)
    assert (point.min, point.max) == (0.001, 0.081)
    filled = [n for n, count in enumerate(point.bucket_counts) if count]
    assert len(point.exemplars) == len(filled)
    edges = [0, *point.explicit_bounds, float("inf")]
    for bucket, exemplar in zip(filled, point.exemplars, strict=True):
        span = exported.by_id[exemplar.span_id]
        assert exemplar.trace_id == span.trace_id
        assert span.name == "chunk"
        facts = attributes(span)
        n = facts["roast.entry_start"] // 100
        assert exemplar.as_double == n * n / 1000
        assert edges[bucket] <= exemplar.as_double <= edges[bucket + 1]


def test_a_retry_links_to_the_failure(tmp_path: Path) -> None:
    chunk = {"entry_start": 0, "entry_stop": 100}
    exported = made(
        tmp_path,
        attempt(1, 1, 0, status=FAILED, **chunk),
        attempt(2, 1, SECOND, **chunk),
    )
    failed, retry = exported.named("chunk")
    assert failed.status.code == ERROR
    assert not failed.links
    assert [link.span_id for link in retry.links] == [failed.span_id]
    assert attributes(retry)["roast.attempt"] == 2


def test_attempts_without_end_are_counted(tmp_path: Path) -> None:
    exported = made(tmp_path, attempt(1, 1, 0), begun(1, 2, SECOND), ended_ns=None)
    (whole,) = exported.named("run")
    assert len(exported.named("chunk")) == 1
    facts = attributes(whole)
    assert facts["roast.attempts_without_end"] == 1
    assert facts["roast.state"] == "unfinished"
    assert whole.end_time_unix_nano == EPOCH_NS + SECOND


def test_ids_do_not_change(tmp_path: Path) -> None:
    """Those of a copy of the file are the same, too."""
    run = opened(run_of(attempt(1, 1, 0)), tmp_path)
    run.export("otlp", tmp_path / "a")
    run.save(tmp_path / "copy.roast")
    open_run(tmp_path / "copy.roast").export("otlp", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    spans = Exported(run, tmp_path).spans
    assert {span.trace_id for span in spans} == {RUN_ID}


def test_names_of_any_bytes(tmp_path: Path) -> None:
    exported = Exported(opened(hostile(), tmp_path), tmp_path)
    names = {shown(name) for name in NAMES}
    facts = [attributes(span) for span in exported.named("chunk")]
    assert {each["roast.dataset"] for each in facts} == names
    assert {each["roast.worker"] for each in facts} == names
    sections = [s for s in exported.spans if exported.path(s)[-2:-1] == ["chunk"]]
    assert {span.name for span in sections} == names


@pytest.mark.parametrize(
    "name", ["v1_empty", "v1_plain", "v1_everything", "v1_cluster"]
)
def test_runs_of_the_past(tmp_path: Path, name: str) -> None:
    run = open_run(FIXTURES / f"{name}.roast")
    exported = Exported(run, tmp_path)
    for span in exported.spans:
        assert len(span.trace_id) == 16
        assert span.end_time_unix_nano >= span.start_time_unix_nano
    assert len(exported.named("run")) == 1
