# SPDX-License-Identifier: BSD-3-Clause
"""Measurement directories as runs: the numbers of an imported run are those that were
saved, of ours and of 0.1.2's; what is wrong is said; secrets stay where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector_helpers import Measured, MeasuredFailing, fileset_of, make_runner
from measurement_dirs import (
    FIXTURES,
    assert_same_records,
    imported,
    records_of,
    saved_in_json,
)
from roastcoffea import MetricsCollector, _probe, load_measurement, open_run
from roastcoffea.export.importer import import_measurement

# ---- runs of ours --------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A collector and the directory it saved, without its run file."""
    with MetricsCollector(labels={"site": "here"}) as collector:
        runner = make_runner(savemetrics=True)
        output, report = runner(fileset_of(tiny_file), Measured())
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report, custom_metrics={"lumi": (1, 2)})
    folder = tmp_path_factory.mktemp("saved")
    collector.save_measurement(folder, "whole")
    return collector, saved_in_json(collector.run, folder, "m")


def test_chunks_of_a_real_run_are_identical(saved: Any) -> None:
    collector, path = saved
    run = open_run(path)
    assert run.chunk_metrics == collector.chunk_metrics
    assert run.custom_metrics == {"lumi": (1, 2)}
    assert run.labels == {"site": "here"}


# The moments of the Runner are not in the directory, nor the parts of that sum. Workers
# are counted there, not known to the moment: there is no budget.
UNREPORTED = {"wall_account", "tree_cpu_seconds", "unavailable", "kinds", "calls"}
UNREPORTED |= {"budget", "unexplained_percent", "budget_overlap_seconds"}
UNREPORTED |= {f"budget_{by}" for by in ("by_phase", "over_time", "by_dataset")}
UNREPORTED |= {f"budget_{by}" for by in ("by_worker", "by_host")}
UNREPORTED |= {"checks", "findings", "verdict", "ramp_up", "tail"}  # made of these
UNREPORTED |= {"critical_path", "other_workers"}
# Nor is it known which of the sampled processes made which record, which of them was
# the client, how long a fetch used the CPU, nor why a field of records is absent.
UNREPORTED |= {"per_worker", "processes_seen", "processes_unsampled", "chunk_split"}
UNREPORTED |= {"other_threads_cpu_seconds", "absent_fields"}
# What the machine counted and where chunks ran are in the run file only.
UNREPORTED |= {"hosts", "read_sizes", "oom_kills", "throttled_seconds"}
UNREPORTED |= {"cgroup_cpu_seconds", "network_received_bytes", "network_sent_bytes"}
UNREPORTED |= {f"{what}_pressure_seconds" for what in ("cpu", "memory", "io")}
UNREPORTED |= {"hot_lines"}  # are in the run file only, where a sample found any


def are_close(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            are_close(one[key], other[key]) for key in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(are_close, one, other))
    return bool(one == other or one == pytest.approx(other, rel=1e-9))


def test_numbers_of_a_real_run_are_identical(saved: Any) -> None:
    _, path = saved
    before = import_measurement(path.parent / "whole")._core.metrics()
    after = import_measurement(path)._core.metrics()
    for row in before["per_endpoint"].values():  # neither are the bins of waits
        for name in ("latency_p50", "latency_p99"):
            row.pop(name, None)
    assert before.keys() - UNREPORTED == after.keys() - UNREPORTED
    for name in before.keys() - UNREPORTED:
        assert are_close(after[name], before[name]), name
    why = after["unavailable"]
    assert why["wall_account"] == "no call of Runner.run was recorded"
    assert "was not measured" in why["tree_cpu_seconds"]
    assert sum(before["budget"].values()) > 0
    assert not after.get("budget")
    assert why["budget"] == "the number of threads is not known"
    assert before["kinds"]["total_cores"] == "exact"
    assert after["kinds"]["total_cores"] == "sampled"


def test_tracking_of_a_real_run_is_identical(saved: Any) -> None:
    collector, path = saved
    after = import_measurement(path)._core.tracking()
    for name, series in collector.tracking_data.items():
        assert after[name] == series, name


def test_a_run_file_beside_is_the_run_itself(saved: Any) -> None:
    collector, path = saved
    run = import_measurement(path.parent / "whole")._core
    assert run.metrics()["wall_account"] == collector.get_metrics()["wall_account"]
    assert run.note("run", "id")


def test_a_failed_chunk_comes_back(tiny_file: Path, tmp_path: Path) -> None:
    collector = MetricsCollector()
    processor = MeasuredFailing(ValueError("boo root://me:pw@host/f?token=1"))
    with pytest.raises(Exception, match="boo"), collector:
        make_runner()(fileset_of(tiny_file), processor)
    records = [
        {k: v for k, v in record.items() if k not in ("chunk_id", "attempt")}
        for record in collector.chunk_metrics
    ]
    assert {record["status"] for record in records} == {"ok", "failed"}
    assert_same_records(tmp_path, records)


# ---- directories of 0.1.2 ------------------------------------------------------------


@pytest.mark.parametrize("name", ["measurement_0_1_2", "measurement_0_1_2_dask"])
def test_numbers_of_0_1_2(name: str) -> None:
    reported, _, _ = load_measurement(FIXTURES / name)
    run = open_run(FIXTURES / name)
    metrics = run.get_metrics()
    for key in (
        "data_rate_gbps total_events event_rate_elapsed_khz event_rate_cpu_total_khz"
        " elapsed_time_seconds total_cpu_time num_chunks total_bytes_read avg_workers"
        " peak_workers peak_memory_bytes speedup_factor num_successful_chunks"
        " num_failed_chunks chunk_duration_mean chunk_duration_max"
        " chunk_mem_delta_mean_mb total_events_from_chunks chunk_events_mean"
    ).split():
        assert metrics[key] == pytest.approx(reported[key], rel=1e-8), key
    for dataset, row in reported["per_dataset"].items():
        found = metrics["per_dataset"][dataset]
        for key, value in row.items():
            assert found[key] == pytest.approx(value, rel=1e-7), (dataset, key)
    assert len(run.chunk_metrics) == len(reported["raw_chunk_metrics"])


def test_a_real_directory_of_0_1_2() -> None:
    reported, _, _ = load_measurement(FIXTURES / "measurement_0_1_2_dask")
    run = import_measurement(FIXTURES / "measurement_0_1_2_dask")
    by_place = {(r["file"], r["entry_start"]): r for r in records_of(run)}
    for record in reported["raw_chunk_metrics"]:
        found = by_place[record["file"], record["entry_start"]]
        for key in record.keys() - {"chunk_id"}:
            assert found[key] == record[key], key
    samples = run._core.tracking()["worker_memory"]
    assert {w: [v for _, v in line] for w, line in samples.items()} == {
        w: [v for _, v in line]
        for w, line in reported["tracking_data"]["worker_memory"].items()
    }
    # its clock stood in New York: the chunks lie in the span of the samples
    times = [when.timestamp() for when, _ in next(iter(samples.values()))]
    assert times[0] <= reported["raw_chunk_metrics"][0]["t_start"] <= times[-1]


# ---- what is wrong -------------------------------------------------------------------


def test_errors_say_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_run(tmp_path / "none")
    with pytest.raises(OSError, match="Metrics file not found"):
        import_measurement(tmp_path)
    imported(tmp_path, {})
    (tmp_path / "metrics.json").write_text('{"a": [1,\n2,, 3]}')
    with pytest.raises(_probe.FormatError, match=r"metrics.json: .*line 2 column 3"):
        open_run(tmp_path)
    (tmp_path / "start_end_time.txt").write_text("noon")
    with pytest.raises(_probe.FormatError, match="Invalid timing format in"):
        open_run(tmp_path)


SECRETS = ("hunter2", "s3cr3t", "abcdef0123")
HIDDEN = {
    "file": "root://me:hunter2@host//store/f.root?authz=s3cr3t",
    "mine": {"url": "https://x?sig=abcdef0123", "password": "hunter2"},
    "error_message": "token=s3cr3t",
}


def test_secrets_do_not_come_along(tmp_path: Path) -> None:
    metrics = {
        "raw_chunk_metrics": [HIDDEN],
        "custom_metrics": HIDDEN,
        "chunk_info": {HIDDEN["file"]: 1},
        "labels": {"token": "s3cr3t", "url": HIDDEN["file"]},
        "monitor_first_error": "Bearer s3cr3t",
        "tracking_data": {HIDDEN["file"]: {"a": 1}},
    }
    run = imported(tmp_path / "m", metrics)
    assert "hunter2" not in str(run.chunk_metrics)
    run.save(tmp_path / "run.roast")
    saved = (tmp_path / "run.roast").read_bytes()
    assert b"//store/f.root" in saved
    for secret in SECRETS:
        assert secret.encode() not in saved
