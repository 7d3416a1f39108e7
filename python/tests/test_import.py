# SPDX-License-Identifier: BSD-3-Clause
"""Measurement directories as runs: a record says the same in JSON and in Python.

Records that others made become the frames that ``frame_of`` makes of their dicts. Ours
come back as they were: every key of every chunk.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collecting import Measured, MeasuredFailing, fileset_of, make_runner
from roastcoffea import (
    MetricsCollector,
    _core,
    _probe,
    load_measurement,
    open_run,
    save_measurement,
    track_bytes,
    track_memory,
    track_time,
)
from support import ROOT, CountedEvents, make_processor, measure

FIXTURES = ROOT / "tests" / "fixtures"
quick = settings(max_examples=1500, deadline=None)


def imported(folder: Path, metrics: dict[str, Any]) -> Any:
    """The run of a directory with these metrics."""
    folder.mkdir(exist_ok=True)
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "start_end_time.txt").write_text("1700000000.0,1700000010.0\n")
    return _core.import_measurement(folder)


def records_of(core: Any) -> list[dict[str, Any]]:
    """Chunk records as dicts, in order of their start."""
    return [dict(_probe.read_frames(row[0])[0]) for row in core.chunks()]


def handed_over(record: dict[str, Any]) -> Any:
    core = _core.Run(0, 0)
    core.add_frames(_probe.frame_of(record, 1), True)
    return core


# ---- records of others ---------------------------------------------------------------

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 2e9),
    names,
)
scalars = st.one_of(numbers, st.just("failed"), st.text(":/@?=a ", max_size=12))


def table(*keys: str) -> Any:
    return st.dictionaries(st.sampled_from(keys), numbers, max_size=4)


sums = st.dictionaries(names, numbers, max_size=4)
VIEWS = (
    "dataset file filename treename uuid entry_start entry_stop num_events t_start"
    " t_end timestamp duration cpu_time task_time status worker host pid thread"
    " mem_before_mb mem_after_mb mem_peak_mb memory_start_gb memory_end_gb bytes_read"
    " bytes_before_process first_chunk undecorated gc_time gc_runs open_bytes"
    " storage_wait monitor_time monitor_errors monitor_first_error error error_type"
    " error_message error_section"
).split()
PARTS = {
    "timing": sums,
    "memory": sums,
    "bytes": sums,
    "sections": st.lists(table("section_name", "time_delta", "count"), max_size=3),
    "ladder": table("import", "open", "form", "fetch", "compute", "unnamed", "other"),
    "branches": st.dictionaries(
        names, table("bytes", "uncompressed_bytes", "seconds", "reads"), max_size=3
    ),
    "accessed_branches": st.lists(st.one_of(names, st.just("a")), max_size=4),
    "offset_branches": st.lists(names, max_size=2),
    "endpoints": st.dictionaries(
        names, table("requests", "ranges", "bytes", "wait", "errors"), max_size=2
    ),
    "file_metadata": st.fixed_dictionaries(
        {},
        optional={
            "kind": st.sampled_from(["ttree", "parquet", "x"]),
            "codec": st.sampled_from(["zlib", "zstd", 3]),
            "total_branches": numbers,
            "num_entries": numbers,
            "compressed_bytes": numbers,
            "uncompressed_bytes": numbers,
            "total_tree_bytes": numbers,
            "compression_ratio": numbers,
            "branch_bytes": sums,
        },
    ),
}
hand_made = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(VIEWS, scalars) | PARTS
).filter(lambda record: not isinstance(record.get("sections"), str))


@quick
@given(record=hand_made)
def test_a_record_of_others_is_what_python_makes_of_it(
    record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "hand_made"
    core = imported(folder, {"raw_chunk_metrics": [record]})
    ((expected, *_),) = handed_over(record).chunks()
    ((frame, *_),) = core.chunks()
    assert _probe.read_frames(frame)[0] == _probe.read_frames(expected)[0]
    assert frame == expected


def test_keys_that_nobody_knows_are_the_users(tmp_path: Path) -> None:
    record = {"mine": [1, {"a": None}], "custom_metrics": {"b": 2.5}, "chunk_id": 7}
    (found,) = records_of(imported(tmp_path, {"raw_chunk_metrics": [record]}))
    assert found["mine"] == [1, {"a": None}]
    assert found["custom_metrics"] == {"b": 2.5}
    assert "chunk_id" not in found


# ---- records of ours -----------------------------------------------------------------


def assert_same_records(folder: Path, records: list[dict[str, Any]]) -> None:
    """Saved as a measurement and imported, they are the same."""
    path = save_measurement({"raw_chunk_metrics": records}, 1e9, 2e9, folder)
    found = records_of(_core.import_measurement(path))
    shutil.rmtree(path)
    assert len(found) == len(records)
    for before, after in zip(records, found, strict=True):
        for key in before.keys() | after.keys():
            assert after.get(key, "nothing") == before.get(key, "nothing"), key


# What a chunk does: sections of a kind and name with others inside.
steps = st.recursive(
    st.just([]),
    lambda inner: st.lists(
        st.tuples(st.sampled_from("tttmb"), st.sampled_from("xyz"), inner), max_size=3
    ),
    max_leaves=8,
)


def walk(processor: Any, events: Any, todo: list[Any]) -> None:
    for kind, name, inner in todo:
        if kind == "t":
            section = track_time(processor, name)
        elif kind == "m":
            section = track_memory(processor, name)
        else:
            section = track_bytes(processor, events, f"bytes of {name}")
        with section:
            if kind == "b":
                events.source.num_requested_bytes += 100
            walk(processor, events, inner)


@quick
@given(todo=steps)
def test_section_trees_come_back(
    todo: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = measure(lambda self, events: walk(self, events, todo), CountedEvents())
    assert_same_records(tmp_path_factory.getbasetemp() / "trees", [dict(record)])


def test_values_of_users_come_back(tmp_path: Path) -> None:
    def work(self: Any, events: Any) -> None:
        chunk = self._roastcoffea_current_chunk
        chunk["mine"] = {"a": 1.5, "b": [1, "x", b"\0\xff"], "t": (1, 2), "u": None}
        chunk["timing"] = {"by_hand": 0.25}
        chunk["deep"] = [[[[[[[1]]]]]]]
        chunk["__tuple__"] = {"__bytes__": 3}

    assert_same_records(tmp_path, [dict(measure(work))])


@pytest.fixture(scope="module")
def saved(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A collector and the directory it saved, without its run file."""
    with MetricsCollector(labels={"site": "here"}) as collector:
        runner = make_runner(savemetrics=True)
        output, report = runner(fileset_of(tiny_file), Measured())
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report, custom_metrics={"lumi": (1, 2)})
    folder = tmp_path_factory.mktemp("saved")
    path = collector.save_measurement(folder, "m")
    shutil.copytree(path, folder / "whole")
    (path / "run.roast").unlink()
    return collector, path


def test_chunks_of_a_real_run_are_identical(saved: Any) -> None:
    collector, path = saved
    run = open_run(path)
    assert run.chunk_metrics == collector.chunk_metrics
    assert run.custom_metrics == {"lumi": (1, 2)}
    assert run.labels == {"site": "here"}


UNTOLD = {"tree_cpu_seconds"}  # its two parts are not in the metrics
MOMENTS = {"wall_account", "unavailable"}  # needs the moments of the Runner


def test_numbers_of_a_real_run_are_identical(saved: Any) -> None:
    collector, path = saved
    before = collector.get_metrics()
    after = _core.import_measurement(path).metrics()
    assert set(after) >= {"event_rate_wall_khz", "chunk_duration_p99", "ladder"}
    for name, value in after.items():
        if name not in MOMENTS:
            assert value == before[name] or value == pytest.approx(before[name]), name
    missing = {name for name in _core.Run(0, 0).metrics() if name not in after}
    assert missing <= UNTOLD
    assert "no call of Runner.run was seen" in after["unavailable"]["wall_account"]


def test_tracking_of_a_real_run_is_identical(saved: Any) -> None:
    collector, path = saved
    after = _core.import_measurement(path).tracking()
    for name, series in collector.tracking_data.items():
        assert after[name] == series, name


def test_a_run_file_beside_is_the_run_itself(saved: Any) -> None:
    collector, path = saved
    run = _core.import_measurement(path.parent / "whole")
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
    told, _, _ = load_measurement(FIXTURES / name)
    run = open_run(FIXTURES / name)
    metrics = run.get_metrics()
    for key in (
        "data_rate_gbps total_events event_rate_elapsed_khz event_rate_cpu_total_khz"
        " elapsed_time_seconds total_cpu_time num_chunks total_bytes_read avg_workers"
        " peak_workers peak_memory_bytes speedup_factor num_successful_chunks"
        " num_failed_chunks chunk_duration_mean chunk_duration_max"
        " chunk_mem_delta_mean_mb total_events_from_chunks chunk_events_mean"
    ).split():
        assert metrics[key] == pytest.approx(told[key], rel=1e-8), key
    for dataset, row in told["per_dataset"].items():
        found = metrics["per_dataset"][dataset]
        for key, value in row.items():
            assert found[key] == pytest.approx(value, rel=1e-7), (dataset, key)
    assert len(run.chunk_metrics) == len(told["raw_chunk_metrics"])
    assert "nobody" not in str(run)


def test_a_real_directory_of_0_1_2() -> None:
    told, _, _ = load_measurement(FIXTURES / "measurement_0_1_2_dask")
    core = _core.import_measurement(FIXTURES / "measurement_0_1_2_dask")
    by_place = {(r["file"], r["entry_start"]): r for r in records_of(core)}
    for record in told["raw_chunk_metrics"]:
        found = by_place[record["file"], record["entry_start"]]
        for key in record.keys() - {"timing", "timestamp", "file_metadata", "duration"}:
            assert found[key] == record[key], key
        assert found["duration"] == pytest.approx(record["duration"], abs=1e-9)
        assert found["timing"] == pytest.approx(record["timing"], abs=1e-9)
    samples = core.tracking()["worker_memory"]
    assert {w: [v for _, v in line] for w, line in samples.items()} == {
        w: [v for _, v in line]
        for w, line in told["tracking_data"]["worker_memory"].items()
    }
    # its clock stood in New York: the chunks lie in the span of the samples
    times = [when.timestamp() for when, _ in next(iter(samples.values()))]
    assert times[0] <= told["raw_chunk_metrics"][0]["t_start"] <= times[-1]


# ---- what is wrong -------------------------------------------------------------------


def test_errors_say_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_run(tmp_path / "none")
    with pytest.raises(OSError, match="Metrics file not found"):
        _core.import_measurement(tmp_path)
    imported(tmp_path, {})
    (tmp_path / "metrics.json").write_text('{"a": [1,\n2,, 3]}')
    with pytest.raises(_probe.FormatError, match=r"metrics.json: byte 12: line 2"):
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
    core = imported(tmp_path / "m", metrics)
    core.save(tmp_path / "run.roast")
    saved = (tmp_path / "run.roast").read_bytes()
    assert b"//store/f.root" in saved
    for secret in SECRETS:
        assert secret.encode() not in saved


def test_processes_share_one_processor(tmp_path: Path) -> None:
    processor = make_processor(lambda self, events: {"n": 1})
    outputs = [processor.process(CountedEvents()) for _ in range(3)]
    records = [dict(out["__roastcoffea_metrics__"][0]) for out in outputs]
    assert_same_records(tmp_path, records)
