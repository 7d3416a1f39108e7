# SPDX-License-Identifier: BSD-3-Clause
"""``roastcoffea.selftest()``: what it says of true numbers, and of wrong ones.

A machine that runs these tests beside others may not be quiet enough:
a check may say that it cannot tell. It may not say that a true number is wrong.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from typing import Any, NamedTuple

import pytest

import roastcoffea
from clusters import open_client
from roastcoffea import selftest_checks, selftesting
from roastcoffea.__main__ import main
from roastcoffea.coffea import results
from support import run_python
from worker_plugins import dask_worker, link_others, open_scheduler

client = pytest.fixture(scope="module")(open_client)

EVERYWHERE = {
    "records, one per chunk",
    "events",
    "your result",
    "CPU in process()",
    "a sleep, as a section",
    "wait for data",
    "your process()",
    "bytes",
    "memory of a section",
    "wall time",
    "worker time",
    "sum of the budget",
    "not explained",
    "errors of the monitor",
    "left behind",
}
ON_DASK = {"CPU of chunks", "time of chunks"}
EXACT = {"records, one per chunk", "events", "your result", "errors of the monitor"}


def wrong(result):
    return {row["what"] for row in result.checks if row["verdict"] == "differs"}


def agrees(result):
    """Nothing is wrong, and what depends on no clock is sure."""
    assert result.ok, str(result)
    assert bool(result)
    sure = {row["what"] for row in result.checks if row["verdict"] == "ok"}
    assert sure >= EXACT | {"left behind", "sum of the budget"}
    return {row["what"] for row in result.checks}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where temporary files are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class Here(NamedTuple):
    """A selftest in this process, and what it was made of."""

    result: Any
    printed: str
    left: list[str]
    known: Any
    measured: Any


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    made = []

    class Kept(selftest_checks.Checks):
        def __init__(self, known, measured):
            made.extend((known, measured))
            super().__init__(known, measured)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setattr(selftesting, "Checks", Kept)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            result = roastcoffea.selftest()
    return Here(result, printed.getvalue(), os.listdir(folder), *made)


def test_here(here):
    result = here.result
    assert agrees(result) == EVERYWHERE
    assert here.printed.endswith(f"{result}\n")  # below coffea's bars
    lines = str(result).splitlines()
    assert len(lines) == 2 + len(result.checks)
    assert max(map(len, lines)) <= 100
    assert repr(result).startswith("<roastcoffea.selftest on Iterative, 1 worker")
    assert result.run.metrics["num_chunks_processed"] == selftesting.LEAST_CHUNKS
    assert not here.left


def test_on_a_cluster(client, tmp_path):
    result = roastcoffea.selftest(client, directory=tmp_path)
    assert agrees(result) == EVERYWHERE | ON_DASK
    assert "Dask, 2 workers" in repr(result)
    assert not os.listdir(tmp_path)


def test_on_a_worker_without_us(tmp_path):
    """Of two threads: what one allocates the other one sees too."""
    for client in open_scheduler():
        with dask_worker(client, link_others(tmp_path / "site")):
            result = roastcoffea.selftest(client)
    assert agrees(result) == EVERYWHERE | ON_DASK
    assert "Dask, 1 worker x 2 threads" in repr(result)


def test_a_number_that_differs_from_coffeas_is_found(monkeypatch, folder):
    real = results.numbers_of

    def more_bytes(report):
        numbers = real(report)
        return numbers | {"report_bytes": 2 * numbers["report_bytes"]}

    monkeypatch.setattr(results, "numbers_of", more_bytes)
    result = roastcoffea.selftest()
    assert wrong(result) == {"bytes"}
    assert not result.ok
    assert "differs: bytes" in repr(result)
    (row,) = (row for row in result.checks if row["what"] == "bytes")
    assert row["difference_percent"] == pytest.approx(-50, abs=1)
    assert not os.listdir(folder)


class Lying(selftest_checks.Checks):
    """Every number that is not counted is half as large again."""

    def __init__(self, known, measured):
        super().__init__(known, measured)
        budget = {k: 1.5 * v for k, v in self.metrics["budget"].items()}
        sleep = {"total": 1.5 * self.metrics["sections"]["sleep"]["total"]}
        wall = 1.5 * self.metrics["wall_time"]
        lies = {"budget": budget, "sections": {"sleep": sleep}, "wall_time": wall}
        self.metrics = dict(self.metrics) | lies
        self.records = [
            record | {"cpu_time": 1.5 * record["cpu_time"], "memory": {"allocation": 9}}
            for record in self.records[1:]
        ]


def test_wrong_numbers_are_found(here):
    checks = Lying(here.known, here.measured).all()
    found = wrong(selftesting.SelfTest(list(checks), here.measured.run, ""))
    assert found >= {
        "records, one per chunk",
        "CPU in process()",
        "a sleep, as a section",
        "memory of a section",
        "sum of the budget",
    }


def test_workers_that_do_not_see_the_file(client, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "run", lambda *args: {"a": True, "b": False})
    with pytest.raises(RuntimeError, match=r"1 of 2 workers cannot read .*directory="):
        roastcoffea.selftest(client, directory=tmp_path)
    assert not os.listdir(tmp_path)


def test_a_cluster_without_workers(monkeypatch):
    class Empty:
        nthreads = dict

        def wait_for_workers(self, count, timeout):
            raise TimeoutError

    with pytest.raises(RuntimeError, match="no workers"):
        roastcoffea.selftest(Empty())


def test_what_is_no_client():
    with pytest.raises(TypeError, match=r"distributed\.Client or nothing, not str"):
        roastcoffea.selftest("tcp://127.0.0.1:8786")


def test_without_coffea():
    said = run_python(
        """
        import sys
        sys.modules["coffea"] = None
        import roastcoffea
        try:
            roastcoffea.selftest()
        except ImportError as error:
            print(error)
        """
    )
    assert said.startswith("selftest() runs a coffea analysis: ")
    assert said.count("\n") == 1


def test_switched_off():
    said = run_python(
        """
        import roastcoffea
        try:
            roastcoffea.selftest()
        except RuntimeError as error:
            print(error)
        """,
        ROASTCOFFEA="off",
    )
    assert "switched off" in said


@pytest.mark.parametrize("code", [0, 1])
def test_as_a_program(code, monkeypatch):
    result = selftesting.SelfTest([], None, "")
    if code:
        result.checks.append({"what": "bytes", "verdict": "differs"})
    monkeypatch.setattr(selftesting, "selftest", lambda: result)
    monkeypatch.setattr(sys, "argv", ["roastcoffea", "selftest"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code


def test_checks_that_a_busy_machine_leaves_undecided():
    known = selftest_checks.Known(chunks=8, sum=0.0, threads=1)
    checks = object.__new__(selftest_checks.Checks)
    checks.known, checks.slack_s, checks.is_busy = known, 0.0, True
    verdicts = [
        checks.between("sleep", ours, span, "")["verdict"]
        for ours, span in (
            (1.0, (1.0, 1.01)),
            (1.3, (1.0, 2.0)),
            (2.5, (1.0, 2.0)),
            (0.5, (1.0, 1.01)),
            (None, (1.0, 1.01)),
        )
    ]
    assert verdicts == ["ok", "unsure", "differs", "differs", "differs"]
