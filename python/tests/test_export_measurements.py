# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as directories: what is saved comes back, what is there stays."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector, _core, _probe, open_run
from roastcoffea.export import load_measurement, measurements, save_measurement
from roastcoffea.export.measurements import save_run
from roastcoffea.run import Run
from support import ROOT
from test_export_encoding import TRACKING, strict

OLD = ROOT / "tests" / "fixtures" / "measurement_0_1_2"


# ---- contents ------------------------------------------------------------------------


def test_files_of_a_measurement(tmp_path: Path) -> None:
    metrics = {"total_events": 3, "tracking_data": TRACKING}
    path = save_measurement(metrics, 100.5, 200.25, tmp_path, "m", {"chunksize": 10})
    assert path == tmp_path / "m"
    assert os.listdir(tmp_path) == ["m"]
    assert (path / "start_end_time.txt").read_text() == "100.5,200.25\n"
    metadata = strict(path / "metadata.json")
    assert metadata["elapsed_time_seconds"] == 99.75
    assert metadata["format"] == "roastcoffea_measurement_v1"
    assert datetime.fromisoformat(metadata["timestamp"]).utcoffset() == timedelta(0)
    assert strict(path / "config.json") == {"chunksize": 10}
    assert strict(path / "worker_tracking.json") == {
        "worker_counts": [
            {"timestamp": "2025-01-01T00:00:00+00:00", "worker_count": 2},
            {"timestamp": "2025-01-01T00:00:10+00:00", "worker_count": 4},
        ],
        "worker_memory": {
            "tcp://h:1": [
                {"timestamp": "2025-01-01T00:00:00+00:00", "memory_bytes": 1e9},
                {"timestamp": "2025-01-01T00:00:01.500000+00:00", "memory_bytes": 2e9},
            ],
            "w2": [],
        },
        "worker_cpu": {
            "w2": [{"timestamp": "2025-01-01T00:00:00+00:00", "cpu_percent": 50.0}]
        },
        "worker_new": {"w2": [{"timestamp": "2025-01-01T00:00:00+00:00", "value": 1}]},
    }


def test_without_tracking_and_config_there_is_no_file_for_them(tmp_path: Path) -> None:
    path = save_measurement({"tracking_data": None}, 1, 2, str(tmp_path), "m")
    names = {"metrics.json", "start_end_time.txt", "metadata.json"}
    assert set(os.listdir(path)) == names
    assert (path / "start_end_time.txt").read_text() == "1,2\n"


# ---- names and places ----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/abs", "../up", "a\0b", "x" * 201, "é" * 101]
)
def test_a_name_names_one_directory(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="measurement_name"):
        save_measurement({}, 1, 2, tmp_path / "out", name)
    assert os.listdir(tmp_path) == []


def test_an_existing_measurement_stays(tmp_path: Path) -> None:
    save_measurement({"a": 1}, 1, 2, tmp_path, "m")
    with pytest.raises(FileExistsError, match=r"already exists: .*m "):
        save_measurement({"a": 2}, 1, 2, tmp_path, "m")
    assert load_measurement(tmp_path / "m")[0] == {"a": 1}
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "m")
    for name in ("file", "link"):
        with pytest.raises(FileExistsError):
            save_measurement({"a": 2}, 1, 2, tmp_path, name)
    assert sorted(os.listdir(tmp_path)) == ["file", "link", "m"]


def test_an_automatic_name_finds_its_place(tmp_path: Path) -> None:
    paths = {save_measurement({"n": n}, 1, 2, tmp_path) for n in range(3)}
    assert len(paths) == 3
    assert {load_measurement(path)[0]["n"] for path in paths} == {0, 1, 2}
    for path in paths:
        datetime.strptime(path.name[:19], "%Y-%m-%d_%H-%M-%S")


def test_a_failure_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save_measurement({"a": 1}, 1, 2, tmp_path, "m")
    assert os.listdir(tmp_path) == []


def test_a_folder_need_not_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(handle)

    monkeypatch.setattr(os, "fsync", only_files)
    path = save_measurement({"a": 1}, 1, 2, tmp_path, "m")
    assert load_measurement(path)[0] == {"a": 1}
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.parametrize("metrics", [None, 3, [1]])
def test_metrics_are_a_mapping(tmp_path: Path, metrics: Any) -> None:
    with pytest.raises(TypeError, match="metrics is a dict"):
        save_measurement(metrics, 1, 2, tmp_path, "m")


def test_others_may_read_it(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    path = save_measurement({}, 1, 2, tmp_path, "m")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


# ---- loading -------------------------------------------------------------------------


def test_a_directory_of_0_1_2() -> None:
    metrics, t0, t1 = load_measurement(OLD)
    assert (t0, t1) == (100.0, 110.0)
    assert metrics["data_rate_gbps"] == 1.6
    assert metrics["chunk_info"][("f1.root", 0, 100)] == (1.0, 3.0, 1000)
    spans = metrics["raw_span_metrics"]
    assert spans[("execute", "MyProc", "thread-cpu", "seconds")] == 3.0
    tracking = metrics["tracking_data"]
    start = datetime(2025, 1, 1, 12)
    assert tracking["worker_counts"][start] == 2
    assert tracking["worker_memory"]["w1"][0] == (start, 1e9)
    assert tracking["worker_cpu"]["w1"][1] == (start + timedelta(seconds=1), 70.0)


def test_a_directory_of_0_1_2_can_be_saved_again(tmp_path: Path) -> None:
    metrics, t0, t1 = load_measurement(OLD)
    again = load_measurement(save_measurement(metrics, t0, t1, tmp_path, "m"))
    assert again == (metrics, t0, t1)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="Measurement directory not found"):
        load_measurement(tmp_path / "none")
    folder = tmp_path / "m"
    folder.mkdir()
    with pytest.raises(FileNotFoundError, match="Metrics file not found"):
        load_measurement(folder)
    (folder / "metrics.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="Timing file not found"):
        load_measurement(str(folder))


@pytest.mark.parametrize("text", ["", "1.0", "a,b", "1,2,3"])
def test_bad_timing(tmp_path: Path, text: str) -> None:
    path = save_measurement({}, 1, 2, tmp_path, "m")
    (path / "start_end_time.txt").write_text(text)
    with pytest.raises(ValueError, match=r"Invalid timing format in .*start_end_time"):
        load_measurement(path)


@pytest.mark.parametrize("text", ["{bad", "[1]", '{"a": ' + "[" * 100_000])
def test_bad_metrics(tmp_path: Path, text: str) -> None:
    path = save_measurement({}, 1, 2, tmp_path, "m")
    (path / "metrics.json").write_text(text)
    with pytest.raises(ValueError, match=r"metrics.json|Expecting"):
        load_measurement(path)


@pytest.mark.parametrize(
    "document",
    [
        {"x": {"__tuple__": 3}, "y": {"__datetime__": "noon"}, "z": {"__set__": [[1]]}},
        {"x": {"__float__": 10**400}, "y": {"__float__": "much"}},
        {"chunk_info": {"(1, 2": 3, "((((": 4, "(" * 9000: 5, "([],)": 6, "(1)": 7}},
        {"tracking_data": {"worker_counts": [1], "w": {"a": 3, "b": [[1, 2, 3]]}}},
        {"tracking_data": {"worker_counts": {"noon": 1}, "w": {"b": [["noon", 1]]}}},
        {"__roastcoffea__": 3, "raw_span_metrics": 5},
        {"__roastcoffea__": {"layout": {"x": "times", "y": 3}, "others": 5}, "x": 1},
    ],
)
def test_nonsense_stays_as_it_is(tmp_path: Path, document: dict[str, Any]) -> None:
    shutil.copytree(OLD, tmp_path / "m")
    (tmp_path / "m" / "metrics.json").write_text(json.dumps(document))
    metrics, _, _ = load_measurement(tmp_path / "m")
    expected = {k: v for k, v in document.items() if not k.startswith("__")}
    assert json.loads(json.dumps(metrics)) == expected


# ---- runs ----------------------------------------------------------------------------


def run_of(chunks: int) -> Run:
    core = _core.Run(0, 1_700_000_000_000_000_000)
    for number in range(chunks):
        record = {
            "file": f"f{number % 7}",
            "entry_start": number,
            "entry_stop": number + 1,
        }
        times = {"t_start": 1.7e9 + number, "t_end": 1.7e9 + number + 0.5}
        core.add_frames(_probe.frame_of(record | times, number + 1), True)
    core.finish(10**9)
    return Run(core)


def test_metrics_json_does_not_grow_with_the_run(tmp_path: Path) -> None:
    run = run_of(250)
    path = save_run(run, tmp_path, "large")
    small = save_run(run_of(25), tmp_path, "small")
    size, few = ((at / "metrics.json").stat().st_size for at in (path, small))
    assert size < 1.1 * few
    assert {"raw_chunk_metrics", "chunk_info"} <= {*run.metrics._unmade()}  # not kept
    metrics, _, _ = load_measurement(path)
    assert metrics["num_chunks"] == 250
    assert metrics["raw_chunk_metrics"] == run.chunk_metrics
    assert len(dict(metrics)["chunk_info"]) == 250


def test_without_the_run_file_the_summary_is_there(tmp_path: Path) -> None:
    path = save_run(run_of(3), tmp_path, "m")
    (path / "run.roast").unlink()
    metrics, _, _ = load_measurement(path)
    assert metrics["num_chunks"] == 3
    assert "raw_chunk_metrics" not in metrics


def test_metrics_of_a_run_are_saved_with_its_run_file(tmp_path: Path) -> None:
    """As scripts for 0.1.2 save them. What was looked at may have been changed."""
    run = run_of(5)
    metrics = run.metrics
    metrics["chunk_info"].popitem()
    path = save_measurement(metrics, 1.0, 2.0, tmp_path, "m")
    assert "raw_chunk_metrics" not in json.loads((path / "metrics.json").read_text())
    loaded, _, _ = load_measurement(path)
    assert loaded["raw_chunk_metrics"] == run.chunk_metrics
    assert len(loaded["chunk_info"]) == 4


# ---- on disk -------------------------------------------------------------------------


def test_files_are_synced_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow disk takes seconds for each: no sync waits for another one."""
    paths = [tmp_path / name for name in "abcd"]
    for path in paths:
        path.write_text(path.name)
    all_there = threading.Barrier(len(paths), timeout=60)
    monkeypatch.setattr(measurements.os, "fsync", lambda handle: all_there.wait())
    measurements._sync(paths)


def test_files_are_synced_without_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a user may have no more of them, or the main thread has ended."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    synced: list[int] = []
    monkeypatch.setattr(measurements.os, "fsync", synced.append)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    path = save_measurement({"a": 1}, 1.0, 2.0, tmp_path, "m")
    assert load_measurement(path)[0] == {"a": 1}
    assert len(synced) == 4  # three files and their folder


def test_an_error_of_a_sync_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.EIO, "gone")

    monkeypatch.setattr(measurements.os, "fsync", full)
    with pytest.raises(OSError, match="gone"):
        save_measurement({}, 1.0, 2.0, tmp_path, "m")
    assert not list(tmp_path.iterdir())


SAVE_AND_DIE = """
import os, sys, signal
from roastcoffea import _core
from roastcoffea.export import measurements
from roastcoffea.run import Run
step = sys.argv[2]
def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(measurements, step, die)
core = _core.Run(0, 10**18)
core.finish(10**9)
measurements.save_run(Run(core), sys.argv[1], "m")
"""


@pytest.mark.parametrize(
    ("step", "kept"), [("_run_file", 0), ("_sync", 1), ("_move", 1)]
)
def test_the_next_run_removes_what_a_killed_save_left(
    step: str, kept: int, tmp_path: Path
) -> None:
    """One that was complete is named instead."""
    died = subprocess.run([sys.executable, "-c", SAVE_AND_DIE, str(tmp_path), step])
    assert died.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".saving-")
    with MetricsCollector(output_dir=tmp_path, measurement_name="next"):
        pass
    names = {path.name for path in tmp_path.iterdir()} - {"next"}
    assert len(names) == kept
    assert not any(name.startswith(".") for name in names)
    for name in names:
        assert open_run(tmp_path / name).t_start == 1e9


def test_what_others_are_saving_is_left_alone(tmp_path: Path) -> None:
    (alive := tmp_path / f".saving-{measurements._place()}-{os.getpid()}-1").mkdir()
    (elsewhere := tmp_path / ".saving-0-1-2").mkdir()
    measurements.remove_abandoned(tmp_path)
    assert {alive, elsewhere} == {*tmp_path.iterdir()}
    a_week_ago = time.time() - 7 * 86400
    os.utime(alive, (a_week_ago, a_week_ago))
    os.utime(elsewhere, (a_week_ago, a_week_ago))
    measurements.remove_abandoned(tmp_path)
    assert [*tmp_path.iterdir()] == [alive]
