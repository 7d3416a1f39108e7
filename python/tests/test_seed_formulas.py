# SPDX-License-Identifier: BSD-3-Clause
"""The formulas of the documents that users follow, under all names, on the run that
tests/analyze/test_seed_formulas.c works out by hand: five chunks in 50 s, read from a
measurement as 0.1.2 would have saved it. What has an exact result is that very number.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import open_run

START = 1_700_000_000.0

# dataset, file, first, stop, start, seconds, memory before and after in MiB
CHUNKS = [
    ("ttbar", "a.root", 0, 200_000, 0, 10, 100, 104),
    ("ttbar", "a.root", 200_000, 300_000, 0, 20, 104, 102),
    ("ttbar", "a.root", 300_000, 500_000, 10, 20, 102, 108),
    ("wjets", "b.root", 0, 250_000, 20, 25, 108, 108),
    ("wjets", "b.root", 250_000, 750_000, 0, 50, 108, 140),
]

COUNTS = {0: 1, 20: 3, 40: 3, 50: 2}
SERIES = {
    "worker_memory": {"a": [1_000_000_000, 3_000_000_000], "b": [2e9, 6e9]},
    "worker_memory_limit": {"a": [4e9, 4e9], "b": [8e9, 8e9]},
    "worker_cpu": {"a": [100, 300], "b": [200, 400]},
    "worker_cores": {"a": [4, 4], "b": [4, 4]},
}
SAMPLED_AT = [10, 30]

# E = 1.25e6, B = 4e9, P = 125 s, T = 50 s, 2.5 x 4 = 10 cores
EXPECTED = {
    "wall_time": 50,
    "elapsed_time_seconds": 50,
    "total_events": 1_250_000,
    "total_bytes_read": 4_000_000_000,
    "total_bytes_read_coffea": 4_000_000_000,
    "total_cpu_time": 125,
    "process_seconds": 125,
    "num_chunks": 5,
    "data_rate_gbps": 0.64,  # 4e9 x 8 / 50 / 1e9
    "overall_rate_gbps": 0.64,
    "data_rate_mbps": 80,
    "overall_rate_mbps": 80,
    "event_rate_wall_khz": 25,
    "event_rate_elapsed_khz": 25,
    "event_rate_agg_khz": 10,
    "event_rate_cpu_total_khz": 10,
    "event_rate_core_hz": 2500,
    "event_rate_core_khz": 2.5,
    "avg_cpu_time_per_chunk": 25,
    "time_avg_workers": 2.5,  # ((1 + 3) / 2 x 20 + 3 x 20 + (3 + 2) / 2 x 10) / 50
    "avg_workers": 2.5,
    "avg_workers_simple": 2.25,
    "peak_workers": 3,
    "cores_per_worker": 4,
    "total_cores": 10,
    "avg_memory_per_worker_gb": 3,
    "peak_memory_gb": 6,
    "peak_memory_per_worker_gb": 6,
    "memory_utilization_avg_percent": 50,
    "memory_utilization_min_percent": 25,
    "memory_utilization_max_percent": 75,
    "cpu_utilization_avg_percent": 62.5,
    "cpu_time_seconds": 110,
    "io_time_seconds": 30,
    "cpu_efficiency": 0.25,
    "core_efficiency": 0.25,
    "cpu_efficiency_fine": 0.22,
    "speedup": 2.5,
    "speedup_factor": 2.5,
    "io_overhead_pct": 60,
    "io_overhead": 0.6,
    "efficiency_ratio_percent": 250,
    "chunk_duration_mean": 25,
    "chunk_duration_min": 10,
    "chunk_duration_max": 50,
    "chunk_duration_std": 15,
    "time_per_event_mean_us": 100,
    "memory_per_event_mean_bytes": 33.554432,  # 40 MiB / 1.25e6
    "total_events_from_chunks": 1_250_000,
}


def when(seconds: float) -> str:
    moment = datetime.fromtimestamp(START, UTC) + timedelta(seconds=seconds)
    return moment.isoformat()


def chunk(row: tuple[Any, ...]) -> dict[str, Any]:
    dataset, file, first, stop, start, seconds, before_mb, after_mb = row
    return {
        "dataset": dataset,
        "file": file,
        "entry_start": first,
        "entry_stop": stop,
        "num_events": stop - first,
        "t_start": START + start,
        "t_end": START + start + seconds,
        "duration": float(seconds),
        "mem_before_mb": float(before_mb),
        "mem_after_mb": float(after_mb),
        "mem_delta_mb": float(after_mb - before_mb),
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("measurement")
    tracking: dict[str, Any] = {
        name: {
            worker: [[when(at), v] for at, v in zip(SAMPLED_AT, values, strict=True)]
            for worker, values in workers.items()
        }
        for name, workers in SERIES.items()
    }
    tracking["worker_counts"] = {when(at): count for at, count in COUNTS.items()}
    metrics = {
        "total_events": 1_250_000,
        "total_bytes_read": 4_000_000_000,
        "total_cpu_time": 125.0,
        "num_chunks": 5,
        "processor_cpu_time_seconds": 100.0,
        "overhead_cpu_time_seconds": 10.0,
        "processor_io_wait_time_seconds": 25.0,
        "overhead_io_wait_time_seconds": 5.0,
        "raw_span_metrics": {"('execute', 'P', 'thread-cpu', 'seconds')": 100.0},
        "tracking_data": tracking,
        "raw_chunk_metrics": [chunk(row) for row in CHUNKS],
    }
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "start_end_time.txt").write_text(f"{START},{START + 50}\n")
    return open_run(folder)


@pytest.mark.parametrize("name", EXPECTED)
def test_formula(run: Any, name: str) -> None:
    assert run.get_metrics()[name] == EXPECTED[name]


def test_datasets(run: Any) -> None:
    ttbar, wjets = (
        run.get_metrics()["per_dataset"][name] for name in ("ttbar", "wjets")
    )
    assert (ttbar["num_chunks"], ttbar["total_duration"]) == (3, 50)
    assert (wjets["mean_duration"], wjets["mean_events_per_chunk"]) == (37.5, 375_000)


def test_what_follows_from_counted_workers_is_sampled(run: Any) -> None:
    kinds = run.get_metrics()["kinds"]
    for name in ("avg_workers", "total_cores", "core_efficiency", "peak_memory_gb"):
        assert kinds[name] == "sampled"
    for name in ("wall_time", "speedup", "data_rate_gbps", "chunk_duration_mean"):
        assert kinds[name] == "exact"
