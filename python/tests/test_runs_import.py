# SPDX-License-Identifier: BSD-3-Clause
"""Measurement directories without a run file, 0.1.2's too: opened as runs."""

from __future__ import annotations

import json
import math
import shutil

import pytest

import roastcoffea
from measurement_dirs import saved_in_json
from roastcoffea import FormatError
from saved_run_samples import differing, measured
from support import ROOT

OLD = ROOT / "tests" / "fixtures" / "measurement_0_1_2"


@pytest.fixture(scope="module")
def run(tiny_file):
    return measured(tiny_file)


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    """As if it were written by a version that had no run files."""
    return saved_in_json(run, tmp_path_factory.mktemp("imported"), "x")


def without_nan(chunk):
    weights = chunk.get("weights", {})
    numbers = {k: None if v is None or math.isnan(v) else v for k, v in weights.items()}
    return chunk | {"weights": numbers}


def test_chunks_come_back_as_they_were(run, folder):
    imported = roastcoffea.open_run(folder)
    assert len(imported.chunk_metrics) == len(run.chunk_metrics)
    pairs = zip(run.chunk_metrics, imported.chunk_metrics, strict=True)
    ours = [pair for pair in pairs if pair[0].get("process_id")]
    assert len(ours) == 3
    for before, after in ours:
        assert differing(without_nan(before), without_nan(after)) == []


def test_numbers_samples_and_labels_come_back(run, folder):
    imported = roastcoffea.open_run(folder)
    before, after = run.get_metrics(), imported.get_metrics()
    for name in ("total_events", "num_chunks", "bytes_read", "ladder_process_s"):
        assert after.get(name) == before.get(name), name
    assert imported.labels == run.labels
    assert imported.tracking_data == run.tracking_data
    assert (imported.t_start, imported.t_end) == pytest.approx((run.t_start, run.t_end))
    assert len(imported.chunks) == len(run.chunks)


def test_imported_run_becomes_a_run_file(folder, tmp_path):
    imported = roastcoffea.open_run(folder)
    saved = roastcoffea.open_run(imported.save(tmp_path / "x.roast"))
    assert saved._core.chunks() == imported._core.chunks()
    assert saved._page("text") == imported._page("text")
    with pytest.raises(RuntimeError, match="opened from a file"):
        imported.set_chunk_metrics([])


def test_measurement_of_the_earlier_package_is_a_run(tmp_path):
    metrics, t0, t1 = roastcoffea.load_measurement(OLD)
    run = roastcoffea.open_run(OLD)
    assert run.get_metrics()["total_events"] == metrics["total_events"]
    assert len(run.chunk_metrics) == len(metrics["raw_chunk_metrics"])
    assert run.t_end - run.t_start == pytest.approx(t1 - t0)
    assert not run.partial
    assert "FINISHED" in str(run)
    assert len(roastcoffea.open_run(run.save(tmp_path / "x")).chunks) == len(run.chunks)


@pytest.mark.parametrize("name", ["metrics.json", "start_end_time.txt"])
@pytest.mark.parametrize("content", ["", "{", "[1]", "1,2,3", "null"])
def test_damaged_measurement_is_refused(name, content, folder, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    (damaged / name).write_text(content)
    with pytest.raises(FormatError, match="damaged"):
        roastcoffea.open_run(damaged)


def test_deep_measurement_is_refused(folder, tmp_path):
    deep = tmp_path / "deep"
    shutil.copytree(folder, deep)
    (deep / "metrics.json").write_text('{"raw_chunk_metrics": ' + "[" * 10**6)
    with pytest.raises(roastcoffea.RoastError):
        roastcoffea.open_run(deep)


def test_measurement_without_times_is_refused(folder, tmp_path):
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    (cut / "start_end_time.txt").unlink()
    with pytest.raises(OSError, match=r"start_end_time\.txt"):
        roastcoffea.open_run(cut)


def test_damaged_run_file_is_not_passed_over(run, tmp_path):
    """Its JSON has less than was saved, which would go unnoticed."""
    folder = run.save_measurement(tmp_path, "x")
    (folder / "run.roast").write_bytes(b"nonsense" * 100)
    with pytest.raises(FormatError, match=r"run\.roast"):
        roastcoffea.open_run(folder)
    assert json.loads((folder / "metrics.json").read_text())["labels"] == run.labels
