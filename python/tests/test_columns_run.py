# SPDX-License-Identifier: BSD-3-Clause
"""Tables of real runs against chunk_metrics, get_metrics() and tracking_data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema

import roastcoffea
from collector_helpers import MeasuredFailing, fileset_of, iterative, make_runner
from roastcoffea import track_memory, track_metrics, track_time
from support import MIB

LADDER = "import open form fetch decompress interpret read_other compute write result"


class Jets(processor.ProcessorABC):
    """Reads a few columns, in sections inside each other."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "select"):
            good = events.Jet[events.Jet.pt > 30]
            with track_time(self, "sum"), track_memory(self, "inside"):
                return {"n": len(events), "eta": float(ak.sum(good.eta))}

    def postprocess(self, accumulator: Any) -> Any:
        return None


@pytest.fixture(scope="module", name="run")
def make_run(nano_folder: Path) -> Any:
    files = sorted(nano_folder.glob("*_0_*.root"))
    fileset = {
        path.name.split("_")[0]: {"files": {str(path): "Events"}} for path in files
    }
    runner = make_runner(schema=NanoAODSchema, chunksize=400)
    with roastcoffea.monitor(worker_tracking_interval=0.05) as run:
        runner(fileset, processor_instance=Jets())
    return run


@pytest.fixture(scope="module", name="failed")
def make_failed_run(tiny_file: Path) -> Any:
    runner = make_runner(iterative(retries=2))
    with (
        roastcoffea.monitor() as run,
        pytest.raises(Exception, match="no such disk"),
    ):
        runner(
            fileset_of(tiny_file),
            processor_instance=MeasuredFailing(OSError("no such disk")),
        )
    return run


def rows_of(run: Any, name: str) -> list[dict[str, Any]]:
    return run.table(name).rows()


def without_unknown(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


# ---- chunks --------------------------------------------------------------------------


def expected_chunk(record: dict[str, Any]) -> dict[str, Any]:
    """A row of `chunks` as chunk_metrics has it."""
    row = {key: value for key, value in record.items() if value is not None}
    row |= {f"{name}_s": value for name, value in record["ladder"].items()}
    for when in ("before", "after", "peak"):
        if record.get(f"mem_{when}_mb") is not None:
            row[f"rss_{when}_bytes"] = round(record[f"mem_{when}_mb"] * MIB)
    if "mem_peak_of" in record:
        row["rss_peak_of"] = record["mem_peak_of"]
    row.setdefault("worker", f"pid-{record['pid']}")
    row.setdefault("undecorated", False)
    return row


def test_every_column_of_chunks_is_in_chunk_metrics(run):
    chunks = run.table("chunks")
    records = run.chunk_metrics
    assert len(chunks) == len(records) > 5
    own = {"start", "task_start", "task_cpu_time"}
    own |= {"runqueue_s", "fetch_cpu_s", "hooks_missing"}  # of the ladder, not slices
    for row, record in zip(chunks.rows(), records, strict=True):
        expected = expected_chunk(record)
        for name, value in without_unknown(row).items():
            if name not in own:
                assert value == expected[name], name
        shared = set(chunks.names) & set(expected)
        assert not [name for name in shared if row[name] is None]
        assert row["start"] / 1e9 == pytest.approx(record["t_start"], abs=1e-6)
        assert row["task_start"] <= row["start"]
        assert row["task_cpu_time"] > 0


def test_slices_of_chunks_add_up(run):
    chunks = run.table("chunks").to_pandas()
    slices = [f"{name}_s" for name in [*LADDER.split(), "unnamed"]]
    sums = chunks[slices].sum(axis=1)
    assert sums.tolist() == pytest.approx(chunks["task_time"].tolist())
    ladder = run.get_metrics()["ladder"]
    for name in LADDER.split():
        assert chunks[f"{name}_s"].sum() == pytest.approx(ladder[name])


def test_chunks_come_in_the_order_of_their_start(run):
    starts = run.table("chunks")["start"].to_list()
    assert starts == sorted(starts)
    assert run.table("chunks")["chunk_id"].to_list() == list(range(len(starts)))


# ---- attempts ------------------------------------------------------------------------


def test_failed_attempts_are_tasks_and_failures(failed):
    metrics = failed.get_metrics()
    tasks = rows_of(failed, "tasks")
    statuses = [task["status"] for task in tasks]
    assert len(tasks) == metrics["num_attempts"]
    assert statuses.count("failed") == metrics["num_failed_attempts"] == 3
    assert statuses.count("ok") == len(rows_of(failed, "chunks"))
    ids = [record["chunk_id"] for record in failed.chunk_metrics]
    assert [task["chunk_id"] for task in tasks if task["chunk_id"] is not None] == ids
    tried = [task for task in tasks if task["status"] == "failed"]
    assert [task["attempt"] for task in tried] == [1, 2, 3]
    assert {task["error_type"] for task in tried} == {"OSError"}


def test_failures_are_those_of_the_metrics(failed):
    rows = rows_of(failed, "failures")
    expected = failed.get_metrics()["failures"]
    assert len(rows) == len(expected) == 3
    for row, other in zip(rows, expected, strict=True):
        start = row.pop("start")
        assert start / 1e9 == pytest.approx(other["t_start"], abs=1e-5)
        assert without_unknown(row) == {
            k: v for k, v in other.items() if k != "t_start"
        }


# ---- what the summary has ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key", "groups"),
    [
        ("datasets", "dataset", ["per_dataset"]),
        ("files", "file", ["file_read_metrics", "file_metadata", "per_file"]),
        ("workers", "worker", ["per_worker"]),
        ("endpoints", "endpoint", ["per_endpoint"]),
    ],
)
def test_groups_are_those_of_the_metrics(run, name, key, groups):
    metrics = run.get_metrics()
    table = run.table(name)
    assert len(table) == len(metrics[groups[-1]]) > 0
    for row in table.rows():
        expected = {}
        for group in groups:
            expected |= metrics[group].get(row[key], {})
        for column, value in without_unknown(row).items():
            if column == key:
                continue
            other = expected[column]
            assert value == (", ".join(other) if isinstance(other, list) else other)
        assert not [c for c in table.names if row[c] is None and c in expected]


def test_metrics_have_the_same_values_and_reasons(run):
    metrics = run.get_metrics()
    for row in rows_of(run, "metrics"):
        if row["value"] is None:
            assert metrics["unavailable"][row["name"]] == row["reason"]
        else:
            assert metrics[row["name"]] == row["value"]
            assert row["reason"] is None


def test_losses_are_all_there(run):
    losses = {row["name"]: row["count"] for row in rows_of(run, "losses")}
    assert {name: count for name, count in losses.items() if count} == (
        run.get_metrics()["losses"]
    )
    assert {"frames_damaged", "section_names"} <= set(losses)


# ---- inside chunks -------------------------------------------------------------------


def test_sections_add_up_to_those_of_the_metrics(run):
    frame = run.table("sections").to_pandas()
    assert set(frame["dataset"]) == {"data", "ttbar", "wjets"}
    assert len(frame) == 3 * 3
    for name, expected in run.get_metrics()["sections"].items():
        own = frame[frame["name"] == name]
        for column in ("count", "total", "self", "chunks"):
            assert own[column].sum() == pytest.approx(expected[column])
    parents = frame.groupby("name", sort=False)["parent"].first().to_dict()
    assert parents == {"select": None, "sum": "select", "inside": "sum"}
    kinds = frame.groupby("name")["kind"].first().to_dict()
    assert kinds == {"select": "time", "sum": "time", "inside": "memory"}


def test_sections_of_chunks_are_those_of_the_records(run):
    rows = rows_of(run, "chunk_sections")
    for record in run.chunk_metrics:
        own = [row for row in rows if row["chunk_id"] == record["chunk_id"]]
        timed = {row["name"]: row["total"] for row in own if row["kind"] == "time"}
        assert timed == pytest.approx(record["timing"])
        memory = {
            row["name"]: row["memory_delta_bytes"] / MIB
            for row in own
            if row["kind"] == "memory"
        }
        assert memory == pytest.approx(record["memory"])


def test_branches_add_up_to_those_of_the_metrics(run):
    frame = run.table("branches").to_pandas()
    chunks = run.table("chunk_branches").to_pandas()
    costs = run.get_metrics()["branch_costs"]
    assert set(frame["branch"]) == set(chunks["branch"]) == set(costs)
    for name, expected in costs.items():
        own, single = frame[frame["branch"] == name], chunks[chunks["branch"] == name]
        for column in ("bytes", "uncompressed_bytes", "seconds", "reads"):
            assert own[column].sum() == pytest.approx(expected[column])
            assert single[column].sum() == pytest.approx(expected[column])
        assert own["chunks"].sum() == len(single) == expected["chunks"]
        assert own["accessed"].any() == expected["accessed"]


# ---- over time -----------------------------------------------------------------------


def test_samples_are_the_tracking_data(run):
    tracking = run.tracking_data
    for key, workers in tracking.items():
        if key == "worker_counts":
            continue
        rows = run.samples(key).rows()
        points = [
            (name, *point) for name, series in workers.items() for point in series
        ]
        assert [(row["worker"], row["value"]) for row in rows] == [
            (name, value) for name, _, value in points
        ]
        assert [row["time"] / 1e9 for row in rows] == pytest.approx(
            [time.timestamp() for _, time, _ in points], abs=1e-5
        )
    rows = rows_of(run, "samples")
    counts = [row["value"] for row in rows if row["series"] == "workers"]
    assert counts == list(tracking["worker_counts"].values())
    memory = [row for row in rows if row["series"] == "memory"]
    assert [row["value"] for row in memory] == run.samples("memory")["value"][:]


def test_the_timeline_adds_up(run):
    metrics = run.get_metrics()
    timeline = run.table("timeline").to_pandas()
    assert 1 <= len(timeline) <= 1000
    assert timeline["length"].sum() == pytest.approx(metrics["wall_time"])
    assert timeline["events"].sum() == metrics["total_events"]
    assert timeline["chunks"].sum() == metrics["num_chunks_processed"]
    bytes_read = run.table("chunks").to_pandas()
    assert timeline["bytes"].sum() == (
        bytes_read["bytes_read"].sum() + bytes_read["bytes_before_process"].sum()
    )
    seconds = (timeline["running"] * timeline["length"]).sum()
    assert seconds == pytest.approx(metrics["task_seconds"])
    assert timeline["workers"].tolist() == pytest.approx([1] * len(timeline))
    peak = metrics["peak_memory_bytes"]
    assert 0 < timeline["memory_bytes"].max() <= peak * (1 + 1e-9)
