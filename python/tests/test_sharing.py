# SPDX-License-Identifier: BSD-3-Clause
"""Tests that are shared among processes: each is run by one, and no failure is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sharing import Share
from support import ROOT

CONFTEST = """
import pytest
import sharing

pytest_configure = sharing.join


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    def fill(folder):
        with open("filled", "a") as log:
            log.write("once ")
        (folder / "content").touch()

    return sharing.made_once(tmp_path_factory, "folder", fill)
"""
TESTS = """
import os
import pytest


@pytest.mark.parametrize("n", range(3))
def test_it(n, folder):
    with open("log", "a") as log:
        log.write(f"{__name__} {n} {os.getpid()}\\n")
    assert (folder / "content").exists()
"""
NAMES = [f"test_{letter}" for letter in "abcdefgh"]


def run(folder: Path, **files: str) -> tuple[int, str]:
    """Exit status and output of three processes, which note what they run."""
    texts = {"conftest": CONFTEST} | dict.fromkeys(NAMES, TESTS) | files
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    paths = (str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    settings = {"PYTHONPATH": os.pathsep.join(paths), "JOBS": "3"}
    settings["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # nothing but pytest: quick
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/pytests.py")],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | settings,
    )
    return done.returncode, done.stdout + done.stderr


def notes(folder: Path) -> list[list[str]]:
    """[file, number of the test, process] of those that were run."""
    return [line.split() for line in (folder / "log").read_text().splitlines()]


def test_every_test_is_run_once_and_a_file_stays_with_one_process(
    tmp_path: Path,
) -> None:
    status, output = run(tmp_path)
    assert status == 0, output
    assert sorted(note[:2] for note in notes(tmp_path)) == [
        [name, str(n)] for name in NAMES for n in range(3)
    ]
    assert len({(name, pid) for name, _, pid in notes(tmp_path)}) == len(NAMES)
    assert [f"pytest {n} of 3: ok" in output for n in (1, 2, 3)] == [True] * 3
    assert (tmp_path / "filled").read_text() == "once "


@pytest.mark.parametrize(
    ("number", "names"), [(0, "dask_a dask_c b d"), (1, "d b dask_c dask_a")]
)
def test_what_waits_and_what_computes_are_taken_from_two_ends(
    tmp_path: Path, number: int, names: str
) -> None:
    class Item(NamedTuple):
        path: Path
        count: int

    files = [Path(f"test_{name}.py") for name in ("b", "d", "dask_a", "dask_c")]
    items: Any = [Item(path, count) for path in files for count in range(2)]
    Share(tmp_path, number).pytest_collection_modifyitems(items)
    expected = [Path(f"test_{name}.py") for name in names.split()]
    assert items == [Item(path, count) for path in expected for count in range(2)]


def test_a_failure_is_shown_and_reaches_the_exit_status(tmp_path: Path) -> None:
    status, output = run(tmp_path, test_d="def test_bad():\n    assert 1 == 2\n")
    assert status == 1
    assert "assert 1 == 2" in output
    assert len(notes(tmp_path)) == 3 * (len(NAMES) - 1)


def test_a_process_that_dies_is_a_failure(tmp_path: Path) -> None:
    status, output = run(
        tmp_path, test_d="import os\n\n\ndef test_bad():\n    os._exit(7)\n"
    )
    assert status == 1
    assert "FAILED, exit 7" in output
