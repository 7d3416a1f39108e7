# SPDX-License-Identifier: BSD-3-Clause
"""`roast ls --label`: a list shows labels as one text, which may be cut or ambiguous;
which runs have a label is decided by the labels themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import roastcoffea
from cli_program import ENVIRONMENT, program

LABELS = {
    "two": {"a": "1", "b": "2"},
    "comma": {"a": "1, b=2"},
    "long": {"a": "1", "c": "x" * 200, "b": "2"},
    "huge": {"c": "x" * 2000, "b": "2"},
    "left_out": {"a": "1, d=4", "b": "x" * 2000},  # as many commas as labels
    "none": {},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("labels")
    for name, labels in LABELS.items():
        with roastcoffea.monitor(labels=labels) as run:
            pass
        run.save(place / f"{name}.roast")
    return place


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("a=1", {"two", "long"}),
        ("b=2", {"two", "long", "huge"}),
        ("a=1, b=2", {"comma"}),
        ("a=1, d=4", {"left_out"}),
        ("d=4", set()),
        (f"b={'x' * 2000}", {"left_out"}),
        ("a=", set()),
        ("=2", set()),
        (f"c={'x' * 200}", {"long"}),
        (f"c={'x' * 2000}", {"huge"}),
    ],
)
def test_only_runs_with_the_label_are_listed(
    folder: Path, label: str, expected: set[str]
) -> None:
    done = subprocess.run(
        [program(), "ls", str(folder), "--label", label, "--format", "json"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    listed = {name for name in LABELS if f"/{name}.roast" in done.stdout}
    assert listed == expected
