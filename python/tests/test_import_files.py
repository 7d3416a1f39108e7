# SPDX-License-Identifier: BSD-3-Clause
"""Measurement directories from strangers: what is damaged is refused with one line, or
left out and counted; times without a zone or a date find their place."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement_dirs import FIXTURES, imported, records_of
from roastcoffea import FormatError, Run, open_run
from roastcoffea.export import import_command
from roastcoffea.export.importer import import_measurement

OURS: dict[str, Any] = {"__roastcoffea__": {}}
NOON = "2025-01-01T12:00:00"
NOON_S = 1735732800


def dropped(run: Run) -> int:
    names, counts = run.losses["name"].to_list(), run.losses["count"].to_list()
    return int(counts[names.index("import_dropped")])


def timed(folder: Path, metrics: dict[str, Any], timing: str) -> Run:
    folder.mkdir(exist_ok=True)
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "start_end_time.txt").write_text(timing)
    return import_measurement(folder)


# ---- files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "timing",
    [
        *("", "1.0", "a,b", "1,2,3", ",", "1,", "nan,1", "1,inf", "1e99,2", "1 2,3"),
        *("0x1,2", "--1,2", "1,2\n3", "1," + "2" * 5000, "\x1b[31m,2"),
    ],
)
def test_bad_timing_is_refused(timing: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"start_end_time\.txt") as caught:
        timed(tmp_path, {}, timing)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("timing", ["1700000000.5,1700000001.5", " 1 , 2\n", ".5,1E1"])
def test_good_timing_is_read(timing: str, tmp_path: Path) -> None:
    assert timed(tmp_path, {}, timing).t_end is not None


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{bad", b"[1]", b'{"a": "\xff"}', b'{"a": ' + b"9" * 5000 + b"}"),
        b'{"a": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
    ],
    ids=["empty", "broken", "a list", "no UTF-8", "long number", "deep"],
)
def test_bad_metrics_are_refused(text: bytes, tmp_path: Path) -> None:
    imported(tmp_path, {})
    (tmp_path / "metrics.json").write_bytes(text)
    with pytest.raises(FormatError) as caught:
        open_run(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Measurement directory not found"):
        import_measurement(tmp_path / "none")
    with pytest.raises(OSError, match="Metrics file not found"):
        import_measurement(tmp_path)
    os.mkfifo(tmp_path / "metrics.json")  # opening it would wait for ever
    with pytest.raises(OSError, match="Metrics file not found"):
        import_measurement(tmp_path)


def test_broken_extras_are_counted(tmp_path: Path) -> None:
    imported(tmp_path, {})
    for name in ("metadata.json", "config.json", "worker_tracking.json"):
        (tmp_path / name).write_text('{"worker_counts": [1, 2')
    run = imported(tmp_path, {"total_events": 5})
    assert dropped(run) == 3
    assert run.metrics["total_events"] == 5


def test_samples_from_their_own_file(tmp_path: Path) -> None:
    at = f"{NOON}+00:00"
    tracking = {
        "worker_counts": [{"timestamp": at, "worker_count": 2}, {"timestamp": "noon"}],
        "worker_memory": {"w": [{"timestamp": at, "memory_bytes": 7}, 3]},
    }
    imported(tmp_path, {})
    (tmp_path / "worker_tracking.json").write_text(json.dumps(tracking))
    run = imported(tmp_path, OURS | {"tracking_data": None})
    assert [n for _, n in run._core.tracking()["worker_memory"]["w"]] == [7]
    assert list(run._core.tracking()["worker_counts"].values()) == [2]
    assert dropped(run) == 2


# ---- records and numbers -------------------------------------------------------------


def test_records_that_say_they_are_the_same_are_one(tmp_path: Path) -> None:
    same = {"process_id": 1, "sequence": 1}
    run = imported(tmp_path, {"raw_chunk_metrics": [same, same, {}, {}, 5]})
    assert len(records_of(run)) == 3
    assert dropped(run) == 2


def test_zeros_of_0_1_2_are_no_facts(tmp_path: Path) -> None:
    metrics = {"total_events": 0, "raw_chunk_metrics": [{"num_events": 7}]}
    assert imported(tmp_path / "old", metrics).metrics["total_events"] == 7
    assert imported(tmp_path / "new", metrics | OURS).metrics["total_events"] == 0


def test_what_has_no_place_is_kept(tmp_path: Path) -> None:
    metrics = {"mine": [1, None], "chunk_info": {"('f', 0, 1)": [0, 1, 2]}}
    run = imported(tmp_path, metrics | {"labels": {"a": 1, "b" * 999: "x"}})
    kept = json.loads(run._core.note("document", "imported_metrics"))
    assert kept["mine"] == [1, None]
    assert "chunk_info" in kept
    assert run.labels == {"a": "1"}
    assert dropped(run) == 1


def test_notes_of_a_fixture() -> None:
    run = open_run(FIXTURES / "measurement_0_1_2")
    assert run.provenance["imported_from"] == "roastcoffea_measurement_v1"
    assert run.provenance["imported_layout"] == "roastcoffea 0.1.2"
    config = json.loads(run._core.note("document", "config"))
    assert config == {"executor": "dask", "chunksize": 100000}
    assert run.metrics["cpu_time_seconds"] == pytest.approx(3.5)
    assert run.metrics["io_time_seconds"] == pytest.approx(1.25)
    assert dropped(run) == 0


# ---- clocks --------------------------------------------------------------------------


def counts(*times: str) -> dict[str, Any]:
    return {"worker_counts": dict.fromkeys(times, 1)}


def test_a_block_without_a_date_is_placed(tmp_path: Path) -> None:
    chunk = {"t_start": NOON_S + 1.0, "t_end": NOON_S + 3.0}
    chunks = {"raw_chunk_metrics": [chunk]}
    samples = {"tracking_data": counts(NOON)}
    assert timed(tmp_path, samples, "5,9")._core.span()[0] == NOON_S * 10**9
    assert timed(tmp_path, chunks, "5,9")._core.span()[0] == (NOON_S - 1) * 10**9
    assert timed(tmp_path, {}, "5,9")._core.span() == (5 * 10**9, 9 * 10**9)
    (tmp_path / "metadata.json").write_text(json.dumps({"timestamp": NOON}))
    assert timed(tmp_path, {}, "5,9")._core.span()[1] == NOON_S * 10**9


@pytest.mark.parametrize("ahead", [-5, 0, 5.75, 14])
def test_local_times_find_their_zone(ahead: float, tmp_path: Path) -> None:
    seen = {"worker_last_seen": {"w": [[NOON, NOON_S - ahead * 3600 - 0.4]]}}
    by_seen = {"tracking_data": counts(NOON) | seen}
    assert timed(tmp_path, by_seen, "5,9").t_start == NOON_S - ahead * 3600
    end = NOON_S + 20 - ahead * 3600
    by_chunk = {
        "tracking_data": counts(NOON, "2025-01-01T12:00:21"),
        "raw_chunk_metrics": [{"t_start": end - 1, "t_end": end}],
    }
    assert timed(tmp_path, by_chunk, "5,30").t_start == NOON_S - ahead * 3600


# ---- anything ------------------------------------------------------------------------

KEYS = (
    "raw_chunk_metrics tracking_data chunk_info custom_metrics raw_section_metrics"
    " labels __roastcoffea__ raw_span_metrics total_events monitor_errors wall_time"
    " worker_counts worker_memory worker_last_seen timestamp process_id sequence"
    " t_start t_end host accessed_branches accessed_bytes file_metadata layout others"
    " error_type __dict__"
).split()
keys = st.sampled_from(KEYS) | st.text(max_size=3)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([NOON, "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00"]),
)
anything = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=100, deadline=None)
@given(
    metrics=st.dictionaries(keys, anything, max_size=6),
    extra=anything,
    t0=st.floats(-4e9, 4e9),
    t1=st.floats(-4e9, 4e9),
)
def test_any_json_is_a_run_or_refused(
    metrics: Any, extra: Any, t0: float, t1: float, tmp_path_factory: Any
) -> None:
    folder = tmp_path_factory.getbasetemp() / "anything"
    folder.mkdir(exist_ok=True)
    for name in ("metadata.json", "config.json", "worker_tracking.json"):
        (folder / name).write_text(json.dumps(extra))
    with contextlib.suppress(FormatError):
        run = timed(folder, metrics, f"{t0},{t1}")
        assert isinstance(run.chunk_metrics, list)
        run.save(folder / "x.roast", overwrite=True)


# ---- damage --------------------------------------------------------------------------

OTHERS = [
    *(b"null", b"[]", b"{}", b'""', b"NaN", b"-1", b"1e999", b"-0.0", b"true"),
    *(b"18446744073709551616", b"9" * 400, b"[" * 3000, b"1" + b"0" * 4000),
    *(b'"0001-01-01T00:00:00+14:00"', b'"' + b"x" * 70_000 + b'"', b'"\\ud800"'),
]
VALUE = re.compile(rb'-?[0-9][0-9.eE+-]*|"[^"]*"|true|null')


def damaged(data: bytes, chance: random.Random) -> bytes:
    """One change: of a bit, a part or a value."""
    at = chance.randrange(len(data) + 1)
    to = at + chance.randrange(600)
    what = chance.randrange(6)
    if what == 0:
        return data[:at]
    if what == 1:
        return data[:at] + data[to:]
    if what == 2:
        return data[:to] + data[at:]
    if what == 3:
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    found = VALUE.search(data, at)
    start, end = found.span() if found else (at, at)
    return data[:start] + chance.choice(OTHERS) + data[end:]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["measurement_0_1_2", "measurement_0_1_2_dask"])
def test_damaged_measurements_are_imported_or_refused(
    name: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Damage has exit code 3; 4 is for our own troubles."""
    chance = random.Random(1)
    codes = []
    for number in range(count):
        folder = tmp_path / str(number)
        shutil.copytree(FIXTURES / name, folder)
        for _ in range(chance.randrange(1, 4)):
            file = chance.choice(sorted(folder.iterdir()))
            file.write_bytes(damaged(file.read_bytes(), chance))
        target = folder / "x.roast"
        codes.append(import_command.main([str(folder), "-o", str(target)]))
        assert codes[-1] in (0, 3), (number, capsys.readouterr().err)
        if codes[-1] == 0:
            run = open_run(target)
            assert isinstance(run.chunk_metrics, list)
            assert run.get_metrics()["wall_time"] >= 0
        else:
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith(f"roast: {folder}: "), line
        shutil.rmtree(folder)
    assert set(codes) == {0, 3}
