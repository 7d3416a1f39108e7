# SPDX-License-Identifier: BSD-3-Clause
"""What is saved is strict JSON, and comes back as it was."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roastcoffea.export import load_measurement, save_measurement


def at(seconds: float) -> datetime:
    return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


TRACKING: dict[str, Any] = {
    "worker_counts": {at(0): 2, at(10): 4},
    "worker_memory": {"tcp://h:1": [(at(0), 1e9), (at(1.5), 2e9)], "w2": []},
    "worker_cpu": {"w2": [(at(0), 50.0)]},
    "worker_new": {"w2": [(at(0), 1)]},
}


def strict(path: Path) -> Any:
    """Parse JSON as any other language would: no NaN, no Infinity."""

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} in {path}")

    return json.loads(path.read_text(), parse_constant=refuse)


def round_trip(tmp_path: Path, metrics: dict[Any, Any]) -> Any:
    path = save_measurement(metrics, 1.0, 2.5, tmp_path, "m")
    strict(path / "metrics.json")
    loaded, t0, t1 = load_measurement(path)
    assert (t0, t1) == (1.0, 2.5)
    return loaded


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        2**70,
        -1.5e-300,
        "é \udc80 \0",
        [],
        {},
        (1, (2, "a"), []),
        {3, 4},
        frozenset({"a"}),
        b"\x00\xff",
        datetime(2025, 1, 1, 12, 30, 15, 999),
        at(0.25),
        date(2025, 1, 1),
        {("f", 1): 2, None: 3, 1.5: {"x": (1,)}},
        {"__tuple__": [1]},
        {"__dict__": 3},
        [{"deep": [{"er": ({"a"},)}]}],
    ],
)
def test_values_come_back_as_they_were(tmp_path: Path, value: Any) -> None:
    metrics = {"value": value, "list": [value]}
    loaded = round_trip(tmp_path, metrics)
    assert loaded == metrics
    assert type(loaded["value"]) is type(value)


def test_the_known_places_come_back_as_they_were(tmp_path: Path) -> None:
    metrics = {
        "tracking_data": TRACKING,
        "chunk_info": {("root://h//f.root", 0, 100): (1.0, 2.0, 10), ("g", 0, 1): ()},
        "raw_span_metrics": {("execute", "P", "thread-cpu", "seconds"): 3.0},
        7: "a key that is no text",
    }
    assert round_trip(tmp_path, metrics) == metrics


@pytest.mark.parametrize(
    "places",
    [
        {"tracking_data": {"worker_counts": {"2025-01-01": 1}, "x": [1]}},
        {"tracking_data": {"worker_memory": {"w": [("2025-01-01", 1)]}}},
        {"tracking_data": {"worker_memory": {"w": [[at(0), 1]]}}},
        {"tracking_data": {3: 4}},
        {"tracking_data": [1], "chunk_info": 3, "raw_span_metrics": None},
        {"chunk_info": {"('a', 1)": [1]}, "raw_span_metrics": {("a", (1, 2)): 1}},
        {"chunk_info": {(): (), ("a",): [1]}},
        {"chunk_info": {}, "tracking_data": {}},
    ],
)
def test_other_shapes_in_the_known_places_come_back_too(
    tmp_path: Path, places: dict[str, Any]
) -> None:
    assert round_trip(tmp_path, places) == places


def test_naive_times_come_back_naive(tmp_path: Path) -> None:
    naive = at(0).replace(tzinfo=None)
    tracking = {"worker_counts": {naive: 1}, "worker_memory": {"w": [(naive, 1)]}}
    loaded = round_trip(tmp_path, {"tracking_data": tracking})
    assert loaded["tracking_data"] == tracking
    form = strict(tmp_path / "m" / "worker_tracking.json")
    assert form["worker_counts"][0]["timestamp"] == "2025-01-01T00:00:00"


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    loaded = round_trip(tmp_path, {"a": math.nan, "b": [math.inf, -math.inf, 1.0]})
    assert loaded == {"a": None, "b": [None, None, 1.0]}
    header = strict(tmp_path / "m" / "metrics.json")["__roastcoffea__"]
    assert header["nonfinite_as_null"] == 3


def test_numpy_becomes_plain(tmp_path: Path) -> None:
    metrics = {
        "f": np.float32(1.5),
        "i": np.int64(3),
        "b": np.bool_(True),
        "a": np.arange(3),
        "k": {np.int64(1): np.float64(2.0)},
        "p": Path("/x/y"),
    }
    loaded = round_trip(tmp_path, metrics)
    expected = {"f": 1.5, "i": 3, "b": True, "a": [0, 1, 2], "k": {1: 2.0}, "p": "/x/y"}
    assert loaded == expected
    assert type(loaded["i"]) is int


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_other_objects_are_shown_and_counted(tmp_path: Path) -> None:
    nested: list[Any] = []
    nested.append(nested)
    metrics = {"c": 1j, "broken": Broken(), "huge": 10**5000, "nested": nested}
    loaded = round_trip(tmp_path, metrics)
    assert loaded["c"] == "1j"
    assert loaded["broken"] == "<Broken>"
    assert loaded["huge"].startswith("<int of ")
    assert loaded["values_as_repr"] == 4
    again, _, _ = load_measurement(save_measurement(loaded, 1, 2, tmp_path, "again"))
    assert "values_as_repr" not in again


def test_credentials_are_not_saved(tmp_path: Path) -> None:
    url = "https://me:secret1@host/f.root?token=secret2"
    metrics = {
        "chunk_info": {(url, 0, 1): (1.0, 2.0, 3)},
        "per_file": {url: {"note": url}},
        "tracking_data": {"worker_memory": {"tcp://me:secret1@h:1": [(at(0), 1)]}},
        "odd": {url, 1j},
        "header": "Bearer\tsecret3",
    }
    path = save_measurement(metrics, 1, 2, tmp_path, "m", {"proxy": url})
    for file in path.iterdir():
        assert "secret" not in file.read_text(), file.name
    assert ("https://***@host/f.root?***", 0, 1) in load_measurement(path)[0][
        "chunk_info"
    ]


def test_urls_that_become_equal_are_all_kept_on_disk(tmp_path: Path) -> None:
    info = {(f"https://h/f?token={n}", 0, 1): (1.0, 2.0, n) for n in range(2)}
    path = save_measurement({"chunk_info": info}, 1, 2, tmp_path, "m")
    assert len(strict(path / "metrics.json")["chunk_info"]["__dict__"]) == 2


def test_metrics_whose_names_become_equal_are_numbered(tmp_path: Path) -> None:
    metrics = {f"https://u{n}:p@h/f": n for n in range(3)} | {"https://***@h/f (2)": 9}
    path = save_measurement(metrics, 1, 2, tmp_path, "m")
    loaded, _, _ = load_measurement(path)
    assert {name: loaded[name] for name in loaded if name.startswith("https")} == {
        "https://***@h/f": 0,
        "https://***@h/f (3)": 1,
        "https://***@h/f (4)": 2,
        "https://***@h/f (2)": 9,
    }


def test_workers_whose_names_become_equal_are_numbered(tmp_path: Path) -> None:
    memory = {f"tcp://u{n}:p@h:1": [(at(0), n)] for n in range(2)}
    tracking = {"tracking_data": {"worker_memory": memory}}
    path = save_measurement(tracking, 1, 2, tmp_path, "m")
    form = strict(path / "worker_tracking.json")["worker_memory"]
    assert list(form) == ["tcp://***@h:1", "tcp://***@h:1 (2)"]
