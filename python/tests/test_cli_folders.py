# SPDX-License-Identifier: BSD-3-Clause
"""Which runs the program finds below a folder, and what it says where it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import cli_runs
import roastcoffea
from cli_program import ENVIRONMENT, program

TOO_LONG = 4096  # bytes of a path, for Linux


def roast(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def save(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with roastcoffea.monitor() as run:
        pass
    run.save(path)


@pytest.fixture
def too_deep(tmp_path: Path) -> Iterator[Path]:
    """A folder with a run, and one so far below that not even root can open it."""
    save(tmp_path / "a.roast")
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path)
        for _ in range(TOO_LONG // 200 + 1):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        os.fchdir(here)
        yield tmp_path
    finally:
        os.fchdir(here)
        os.close(here)
        shutil.rmtree(tmp_path / ("d" * 200))


def test_check_reports_what_it_could_not_read(too_deep: Path) -> None:
    done = roast("check", too_deep)
    assert done.stdout == f"{too_deep}/a.roast: ok\n"
    assert done.stderr.count("\n") == 1
    assert "the runs below it are left out" in done.stderr
    assert done.returncode == 3


def test_check_fails_for_what_it_could_not_read(too_deep: Path) -> None:
    (too_deep / "a.roast").unlink()
    done = roast("check", too_deep)
    assert (done.stdout, done.returncode) == ("", 3)


def test_ls_lists_the_rest(too_deep: Path) -> None:
    done = roast("ls", too_deep)
    assert "a.roast" in done.stdout
    assert "the runs below it are left out" in done.stderr
    assert done.returncode == 0


def test_what_is_being_written_is_passed_over(tmp_path: Path) -> None:
    save(tmp_path / "one" / "run.roast")
    save(tmp_path / ".saving-0123456789abcdef" / "run.roast")
    save(tmp_path / ".hidden.roast")
    assert roast("check", tmp_path).stdout == f"{tmp_path}/one/run.roast: ok\n"
    assert roast("ls", tmp_path).stdout.count(".roast") == 1
    assert str(roastcoffea.open_run(tmp_path).path) == str(tmp_path / "one")


@pytest.mark.parametrize("name", ["v1.roast", "v1.roast-live", "v1"])
def test_measurement_may_have_any_name(name: str, tmp_path: Path) -> None:
    with roastcoffea.monitor(tmp_path, measurement_name=name) as run:
        pass
    assert run.measurement_path == tmp_path / name
    assert roast("report", tmp_path).returncode == 0
    assert roast("check", tmp_path).stdout == f"{tmp_path / name}/run.roast: ok\n"
    assert str(roastcoffea.open_run(tmp_path).path) == str(tmp_path / name)


def test_next_run_where_the_newest_cannot_be_opened(tmp_path: Path) -> None:
    for name in ("old", "new"):
        save(tmp_path / f"{name}.roast")
    damaged = bytearray((tmp_path / "new.roast").read_bytes())
    damaged[100:4096] = b"\xff" * 3996  # what SQLite needs, and a glance does not
    (tmp_path / "new.roast").write_bytes(damaged)
    done = roast("report", tmp_path)
    assert "using the newest: " in done.stderr
    assert "1 of them cannot be read" in done.stderr
    assert done.returncode == 0
    assert roastcoffea.open_run(tmp_path).id
    (tmp_path / "old.roast").unlink()
    assert roast("report", tmp_path).returncode == 3
    with pytest.raises(roastcoffea.FormatError):
        roastcoffea.open_run(tmp_path)


def test_many_live_files_have_their_numbers(tmp_path: Path) -> None:
    """More than one thread reads them."""
    cli_runs.write_all(tmp_path)
    live = (tmp_path / "live.roast-live").read_bytes()
    (tmp_path / "many").mkdir()
    for number in range(80):
        (tmp_path / "many" / f"{number}.roast-live").write_bytes(live)
    done = roast("ls", tmp_path / "many", "--format", "json")
    assert done.stdout.count('"live":true') == 80
    assert done.stdout.count('"chunks":1,') == 80
