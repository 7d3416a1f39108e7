# SPDX-License-Identifier: BSD-3-Clause
"""Chunk records as statistics: 0.1.2's numbers, and records that know less.

The expected values were taken from 0.1.2 itself, called with the same arguments.
"""

from __future__ import annotations

from types import MappingProxyType

import pytest

from roastcoffea.aggregation.chunk import aggregate_chunk_metrics, build_chunk_info


def chunk(**changes: object) -> dict[str, object]:
    record: dict[str, object] = {
        "t_start": 1.0,
        "t_end": 3.0,
        "duration": 2.0,
        "mem_delta_mb": 10.0,
        "dataset": "A",
        "file": "f1.root",
        "entry_start": 0,
        "entry_stop": 100,
        "num_events": 100,
        "bytes_read": 1000,
    }
    return record | changes


CHUNKS = [
    chunk(),
    chunk(duration=4.0, mem_delta_mb=-5.0, entry_start=100, num_events=150),
    chunk(duration=0.5, mem_delta_mb=5.0, dataset="B", file="g.root", num_events=50),
]


def test_chunk_statistics() -> None:
    metrics = aggregate_chunk_metrics(CHUNKS)
    datasets = metrics.pop("per_dataset")
    assert metrics == pytest.approx(
        {
            "num_chunks": 3,
            "num_successful_chunks": 3,
            "num_failed_chunks": 0,
            "chunk_duration_mean": 2.1666666666666665,
            "chunk_duration_min": 0.5,
            "chunk_duration_max": 4.0,
            "chunk_duration_std": 1.7559422921421233,
            "chunk_mem_delta_mean_mb": 3.3333333333333335,
            "chunk_mem_delta_min_mb": -5.0,
            "chunk_mem_delta_max_mb": 10.0,
            "chunk_mem_delta_std_mb": 7.637626158259733,
            "total_events_from_chunks": 300,
            "chunk_events_mean": 100.0,
            "chunk_events_min": 50,
            "chunk_events_max": 150,
        },
        rel=1e-12,
    )
    assert datasets["A"] == {
        "num_chunks": 2,
        "total_duration": 6.0,
        "total_events": 250,
        "mean_duration": 3.0,
        "mean_events_per_chunk": 125.0,
    }
    assert list(datasets) == ["A", "B"]


@pytest.mark.parametrize("chunks", [None, [], ()])
def test_no_chunks(chunks: object) -> None:
    assert aggregate_chunk_metrics(chunks) == {"num_chunks": 0}  # type: ignore[arg-type]


@pytest.mark.parametrize("failure", [{"error": "OSError"}, {"status": "failed"}])
def test_failed_chunks_are_counted_and_left_out(failure: dict[str, str]) -> None:
    metrics = aggregate_chunk_metrics([*CHUNKS, {"duration": 99.0} | failure])
    assert metrics["num_failed_chunks"] == 1
    assert metrics["chunk_duration_max"] == 4.0
    only = aggregate_chunk_metrics([chunk(**failure)], [{"name": "s", "duration": 1.0}])
    assert only == {"num_chunks": 1, "num_successful_chunks": 0, "num_failed_chunks": 1}


def test_what_a_record_does_not_know_is_left_out() -> None:
    unknown = chunk(duration=None, mem_delta_mb=None, num_events=None, error=None)
    metrics = aggregate_chunk_metrics([*CHUNKS, unknown])
    assert metrics["num_successful_chunks"] == 4
    assert metrics["chunk_duration_mean"] == pytest.approx(13 / 6)
    assert metrics["chunk_mem_delta_min_mb"] == -5.0
    assert metrics["per_dataset"]["A"]["mean_duration"] == 3.0
    bare = aggregate_chunk_metrics([{"duration": 1.0}])
    assert "chunk_events_mean" not in bare
    assert "chunk_mem_delta_mean_mb" not in bare
    assert list(bare["per_dataset"]) == ["unknown"]


def test_records_may_be_any_mapping_and_any_iterable() -> None:
    frozen = (MappingProxyType(record) for record in CHUNKS)
    assert aggregate_chunk_metrics(frozen) == aggregate_chunk_metrics(CHUNKS)


def test_a_million_small_durations_add_up() -> None:
    records = [{"duration": 1e8}] + [{"duration": 1e-8}] * 100_000
    metrics = aggregate_chunk_metrics(records)
    total = metrics["per_dataset"]["unknown"]["total_duration"]
    assert total == pytest.approx(1e8 + 1e-3, abs=1e-7)


def test_sections_of_both_shapes() -> None:
    sections = [
        {"name": "select", "type": "time", "duration": 1.0},
        {"name": "select", "type": "time", "duration": 2.0},
        {"section_name": "fill", "time_delta": 0.5},
        {"name": "load", "type": "memory", "mem_delta_mb": 2.0},
        {"name": "load", "type": "memory", "mem_delta_mb": 5.0},
        {},
    ]
    assert aggregate_chunk_metrics(CHUNKS, sections)["sections"] == {
        "select": {
            "count": 2,
            "total_duration": 3.0,
            "type": "time",
            "mean_duration": 1.5,
        },
        "fill": {
            "count": 1,
            "total_duration": 0.5,
            "type": "section",
            "mean_duration": 0.5,
        },
        "load": {
            "count": 2,
            "total_duration": 0.0,
            "type": "memory",
            "mean_duration": 0.0,
            "mean_mem_delta_mb": 3.5,
            "max_mem_delta_mb": 5.0,
            "min_mem_delta_mb": 2.0,
        },
        "unknown": {
            "count": 1,
            "total_duration": 0.0,
            "type": "section",
            "mean_duration": 0.0,
        },
    }


def test_chunk_info() -> None:
    gone = {key: value for key, value in chunk(file="x").items() if key != "bytes_read"}
    records = [chunk(), gone, chunk(file="y", bytes_read=None), chunk(t_end=None), {}]
    assert build_chunk_info(records) == {
        ("f1.root", 0, 100): (1.0, 3.0, 1000),
        ("x", 0, 100): (1.0, 3.0, 0),
        ("y", 0, 100): (1.0, 3.0, None),
    }
    with pytest.raises(TypeError):
        build_chunk_info(None)  # type: ignore[arg-type]
