# SPDX-License-Identifier: BSD-3-Clause
"""What the recipes added, used: in a run, in a file, by the program."""

from __future__ import annotations

import subprocess

import pytest

from cli_program import program
from collector_helpers import Measured, fileset_of, make_runner
from roastcoffea import MetricsCollector, open_run


class Answer:
    """What the backend of the recipe takes for its own."""


def collected(tiny_file, client=None):
    with MetricsCollector(client, worker_tracking_interval=0.05) as collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
    return collector


@pytest.fixture
def path(tiny_file, tmp_path):
    collected(tiny_file).run.save(tmp_path / "a.roast")
    return tmp_path / "a.roast"


def roast(*words):
    command = [program(), *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_metric(path):
    assert open_run(path).get_metrics()["recipe_metric"] == 42
    assert "recipe_metric" in roast("metrics", "recipe_metric")


def test_finding(path):
    rows = open_run(path).findings.to_dict()
    assert rows["evidence"][rows["id"].index("recipe_finding")] == (
        "42 answers were found"
    )


def test_column(path):
    assert set(open_run(path).tasks["recipe_column"]) == {42}
    assert set(open_run(path).chunks["recipe_column"]) == {42}
    query = "select distinct recipe_column from chunks"
    assert roast("sql", path, query, "-fcsv").split() == ["recipe_column", "42"]


def test_table(path):
    answer = {"question": ["everything"], "recipe_answer": [42]}
    assert open_run(path).recipe_table.to_dict() == answer
    query = "select recipe_answer from recipe_table"
    assert roast("sql", path, query, "-fcsv").split() == ["recipe_answer", "42"]


def test_field(path):
    chunks = open_run(path).chunk_metrics
    assert chunks
    assert {chunk["recipe_bytes"] for chunk in chunks} == {42}
    assert '"recipe_field":42' in roast("dump", path).replace(" ", "")


def test_exporter(path):
    assert roast("export", path, "--format", "recipe") == "1 dataset\n"
    assert open_run(path).export("recipe") == b"1 dataset\n"
    assert "a number" in roast("export", "--list")


def test_rows(path):
    assert roast("dump", path, "recipe_table", "--format", "recipe") == "2 cells\n"


def test_command():
    assert roast("recipe") == "42\n"
    assert "print a number" in roast("help")


def test_backend(tiny_file):
    collector = collected(tiny_file, Answer())
    metrics, workers = collector.get_metrics(), collector.run.workers
    memory_mb = dict(zip(workers["worker"], workers["peak_memory_mb"]))
    assert memory_mb["answer"] == 42 / 2**20
    assert metrics["unavailable"]["executor_time_seconds"] == "an Answer has no spans"
