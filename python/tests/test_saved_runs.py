# SPDX-License-Identifier: BSD-3-Clause
"""A real run, saved and loaded again: everything comes back as it was.

Saving hand-made metrics is test_export_measurements.py's subject; here it is what a run
on a real file gives: samples, chunk records, labels, a failure.
"""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

import roastcoffea
from roastcoffea import track_memory, track_metrics, track_time


class Analysis(processor.ProcessorABC):
    def __init__(self, fails=False):
        self.fails = fails

    @track_metrics
    def process(self, events):
        with track_time(self, "selection"), track_memory(self, "columns"):
            size = len(events.event)
        self._roastcoffea_current_chunk["bytes_seen"] = b"\x00\xff"
        if self.fails and events.metadata["entrystart"] == 1000:
            raise OSError("no such tape")
        return {"events": size}

    def postprocess(self, accumulator):
        return accumulator


def run(tiny_file, collector, **options):
    runner = processor.Runner(
        processor.IterativeExecutor(status=False, retries=0),
        schema=BaseSchema,
        savemetrics=True,
        chunksize=1000,
    )
    files = {"tt <inclusive>": {"files": {str(tiny_file): "Events"}}}
    with collector:
        return runner(files, processor_instance=Analysis(**options))


def same(left, right):
    """Equal, where NaN is equal to itself."""
    if isinstance(left, float) and math.isnan(left):
        return isinstance(right, float) and math.isnan(right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            same(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, (list, tuple)):
        return (
            type(left) is type(right)
            and len(left) == len(right)
            and all(map(same, left, right))
        )
    return type(left) is type(right) and left == right


@pytest.fixture(scope="module")
def collector(tiny_file):
    collector = roastcoffea.MetricsCollector(
        None, labels={"site": "T2_XX"}, worker_tracking_interval=0.005
    )
    _, report = run(tiny_file, collector)
    collector.set_coffea_report(report, custom_metrics={"answer": 42})
    collector.record_section_metrics({"section_name": "by hand", "time_delta": 1.5})
    return collector


@pytest.fixture(scope="module")
def saved(collector, tmp_path_factory):
    config = {"chunksize": 1000, "sites": ["T2_XX"]}
    folder = tmp_path_factory.mktemp("saved") / "deep" / "er"
    return collector.run.save_measurement(folder, "one run", config)


@pytest.fixture(scope="module")
def loaded(saved):
    return roastcoffea.load_measurement(saved)


def test_metrics_come_back_as_they_were(collector, loaded):
    metrics, before = loaded[0], dict(collector.get_metrics().items())
    assert metrics.keys() == before.keys()
    different = [key for key in before if not same(before[key], metrics[key])]
    assert different == []


def test_times_come_back_exactly(collector, loaded):
    assert loaded[1:] == (collector.t_start, collector.t_end)
    assert loaded[2] - loaded[1] == pytest.approx(loaded[0]["wall_time"], abs=1e-6)


def test_samples_come_back_with_datetimes_in_utc(collector, loaded):
    tracking = loaded[0]["tracking_data"]
    assert same(tracking, collector.tracking_data)
    assert len(tracking["worker_counts"]) >= 2
    times = list(tracking["worker_counts"])
    (samples,) = tracking["worker_memory"].values()
    times += [when for when, _ in samples]
    assert all(when.tzinfo is dt.UTC for when in times)
    assert times[0].timestamp() == pytest.approx(collector.t_start, abs=1)


def test_chunk_info_comes_back_with_tuples_as_keys(tiny_file, loaded):
    keys = list(loaded[0]["chunk_info"])
    starts = (0, 1000, 2000)
    assert keys == [(str(tiny_file), start, start + 1000) for start in starts]
    assert all(type(value) is tuple for value in loaded[0]["chunk_info"].values())


def test_chunk_records_come_back_with_all_they_hold(collector, loaded):
    chunks = loaded[0]["raw_chunk_metrics"]
    assert same(chunks, collector.chunk_metrics)
    assert {chunk["dataset"] for chunk in chunks} == {"tt <inclusive>"}
    assert [set(chunk["timing"]) for chunk in chunks] == [{"selection"}] * 3
    assert [chunk["bytes_seen"] for chunk in chunks] == [b"\x00\xff"] * 3


def test_what_the_user_added_comes_back(loaded):
    metrics = loaded[0]
    assert metrics["answer"] == 42
    assert metrics["labels"] == {"site": "T2_XX"}
    assert metrics["raw_section_metrics"] == [
        {"section_name": "by hand", "time_delta": 1.5}
    ]


def test_files_are_strict_json_in_the_documented_form(saved):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    documents = {
        path.name: json.loads(path.read_text(), parse_constant=refuse)
        for path in saved.glob("*.json")
    }
    assert documents.keys() == {
        "config.json",
        "metadata.json",
        "metrics.json",
        "worker_tracking.json",
    }
    assert documents["metadata.json"]["format"] == "roastcoffea_measurement_v1"
    assert documents["config.json"] == {"chunksize": 1000, "sites": ["T2_XX"]}
    tracking = documents["worker_tracking.json"]
    assert {sample["worker_count"] for sample in tracking["worker_counts"]} == {1}
    (samples,) = tracking["worker_memory"].values()
    assert all(sample["memory_bytes"] > 0 for sample in samples)
    assert samples[0]["timestamp"].endswith("+00:00")


def test_loaded_metrics_can_be_saved_again(loaded, tmp_path):
    again = roastcoffea.save_measurement(*loaded, tmp_path)
    assert same(roastcoffea.load_measurement(again), loaded)


# ---- output_dir --------------------------------------------------------------------


def test_output_dir_is_written_at_the_end_of_the_block(tiny_file, tmp_path):
    collector = roastcoffea.MetricsCollector(None, tmp_path / "runs")
    run(tiny_file, collector)
    (folder,) = (tmp_path / "runs").iterdir()
    assert collector.measurement_path == folder
    metrics, t0, _ = roastcoffea.load_measurement(folder)
    assert t0 == collector.t_start
    assert metrics["num_chunks"] == 3


def test_every_block_writes_a_directory_of_its_own(tiny_file, tmp_path):
    collector = roastcoffea.MetricsCollector(None, tmp_path)
    run(tiny_file, collector)
    first = collector.measurement_path
    run(tiny_file, collector)
    assert {first, collector.measurement_path} == set(tmp_path.iterdir())
    assert first != collector.measurement_path


def test_failed_run_is_written_and_marked(tiny_file, tmp_path):
    collector = roastcoffea.monitor(tmp_path, measurement_name="failed")
    with pytest.raises(Exception, match="no such tape"):  # coffea wraps the OSError
        run(tiny_file, collector, fails=True)
    metrics, _, _ = roastcoffea.load_measurement(tmp_path / "failed")
    assert metrics["partial"] is True
    assert metrics["num_failed_attempts"] == 1
    (failure,) = metrics["failures"]
    assert "no such tape" in json.dumps(failure)


def test_folder_that_cannot_be_written_costs_a_warning_alone(tiny_file, tmp_path):
    (tmp_path / "file").write_text("in the way")
    collector = roastcoffea.monitor(tmp_path / "file")
    with pytest.warns(UserWarning, match="roastcoffea could not write to"):
        output, _ = run(tiny_file, collector)
    assert output["events"] == 3000
    assert collector.get_metrics()["monitor_errors"] == 1
    assert collector.measurement_path is None
    assert collector.save_measurement(tmp_path / "elsewhere").is_dir()


def test_nothing_is_saved_before_the_block_ends(tmp_path):
    too_early = pytest.raises(RuntimeError, match="Cannot save measurement before")
    collector = roastcoffea.monitor()
    with too_early:
        collector.save_measurement(tmp_path)
    with collector, too_early:
        collector.save_measurement(tmp_path)
    assert list(tmp_path.iterdir()) == []
