# SPDX-License-Identifier: BSD-3-Clause
"""``output_dir`` that cannot be, or not as it is called: nothing is written elsewhere,
and the analysis runs on."""

from __future__ import annotations

import os
import subprocess

import pytest

import roastcoffea
from collector_helpers import EVENTS, Measured, Plain, fileset_of, make_runner
from roastcoffea import _core, _probe
from support import run_python


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- names -------------------------------------------------------------------------

BAD_NAMES = ["../x", "/etc/x", "a/b", "..", ".", "", "x" * 256, "a\0b", "é" * 150]


@pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
def test_name_that_is_none_is_refused_before_anything_runs(name, tmp_path):
    folder = tmp_path / "runs"
    with pytest.raises(ValueError, match="does not name one directory"):
        roastcoffea.monitor(folder, measurement_name=name)
    with pytest.raises(ValueError, match="does not name one directory"):
        roastcoffea.MetricsCollector(None, folder, measurement_name=name)
    assert names(tmp_path) == []


def test_long_name_has_room_for_the_suffix(tmp_path):
    name = "x" * 200
    with roastcoffea.monitor(tmp_path, measurement_name=name):
        assert names(tmp_path) == [f"{name}.roast-live"]
    assert names(tmp_path) == [name]


@pytest.mark.parametrize(
    ("link", "reported"),
    [("x", "could not write to"), ("x.roast-live", "of another run")],
)
def test_links_are_not_followed(link, reported, tiny_file, tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "runs"
    outside.mkdir()
    folder.mkdir()
    collector = roastcoffea.monitor(folder, measurement_name="x")
    (folder / link).symlink_to(outside / "x")
    with pytest.warns(UserWarning, match=reported), collector:
        output = make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert output["n"] == EVENTS
    assert names(outside) == []
    assert (folder / link).is_symlink()


def test_taken_name_is_refused_before_the_block(tmp_path):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FileExistsError, match="x exists: choose another"):
        roastcoffea.monitor(tmp_path, measurement_name="x")
    assert (tmp_path / "x").read_text() == "mine"
    assert names(tmp_path) == ["x"]


def test_collector_that_writes_nothing_minds_no_name(tmp_path, monkeypatch):
    (tmp_path / "x").mkdir()
    monkeypatch.setattr(_probe, "status", lambda: {"enabled": False})
    with roastcoffea.monitor(tmp_path, measurement_name="x"):
        pass
    assert names(tmp_path) == ["x"]


def test_name_that_is_taken_later_leaves_the_run_in_the_live_file(tiny_file, tmp_path):
    collector = roastcoffea.monitor(tmp_path, measurement_name="x")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine").write_text("mine")
    with (
        pytest.warns(UserWarning, match=r"x exists: the run stays in .*x\.roast-live"),
        collector as run,
    ):
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
    assert names(tmp_path) == ["x", "x.roast-live"]
    assert names(tmp_path / "x") == ["mine"]
    opened = roastcoffea.open_run(tmp_path / "x.roast-live")
    assert opened._core.chunks() == run._core.chunks()
    assert opened.t_end == run.t_end
    assert opened.info["live"]
    assert opened.info["ended"]
    assert not opened.partial
    assert "this is the live file" in str(opened)
    assert run.get_metrics()["monitor_errors"] == 1


def test_files_of_a_killed_run_stay_and_block_no_other_run(tiny_file, tmp_path):
    (tmp_path / "x.roast-live").write_text("of a run that crashed")
    collector = roastcoffea.monitor(tmp_path, measurement_name="x")
    with pytest.warns(UserWarning, match="this one is called x-2"), collector as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert (tmp_path / "x.roast-live").read_text() == "of a run that crashed"
    assert roastcoffea.open_run(tmp_path / "x-2").id == run.id
    assert run.get_metrics()["monitor_errors"] == 0


# ---- what cannot be written --------------------------------------------------------


def test_file_instead_of_a_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.warns(UserWarning, match="write to .*file: it is not a directory"),
        roastcoffea.monitor(tmp_path / "file"),
    ):
        pass


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/none/such"])
def test_folder_that_cannot_be_made_costs_one_warning(folder, tiny_file, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.warns(UserWarning, match="could not write to") as warned,
        roastcoffea.monitor(tmp_path / folder) as run,
    ):
        output = make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert len(warned) == 1
    assert output["n"] == EVENTS
    assert run.measurement_path is None
    assert run.get_metrics()["monitor_errors"] == 1
    assert run._notes.first_error.startswith("output_dir: ")
    assert "monitor errors: 1" in run._page("text")
    assert run.save(tmp_path / "elsewhere.roast").is_file()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_folder_that_is_read_only_costs_one_warning(tiny_file, tmp_path):
    tmp_path.chmod(0o555)
    with (
        pytest.warns(UserWarning, match="could not write to") as warned,
        roastcoffea.monitor(tmp_path) as run,
    ):
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    tmp_path.chmod(0o755)
    assert len(warned) == 1
    assert run.get_metrics()["total_events"] == EVENTS


def test_run_file_that_cannot_be_built_leaves_the_live_file(
    tiny_file, tmp_path, monkeypatch
):
    def fail(self, *args):
        raise _core.StoreError("no room")

    monkeypatch.setattr(roastcoffea.Run, "_write_unsynced", fail)
    with (
        pytest.warns(
            UserWarning, match=r"no room; 3 of 3 chunks are in .*x\.roast-live"
        ),
        roastcoffea.monitor(tmp_path, measurement_name="x") as run,
    ):
        make_runner()(fileset_of(tiny_file), processor_instance=Measured())
    assert names(tmp_path) == ["x.roast-live"]
    opened = roastcoffea.open_run(tmp_path / "x.roast-live")
    assert opened._core.chunks() == run._core.chunks()
    assert opened._notes.first_error == "output_dir: StoreError: no room"


FULL = """
    import resource, signal, sys, warnings
    from pathlib import Path
    import roastcoffea
    from collector_helpers import *

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = sys.argv[1]
    runner = make_runner(chunksize=100)
    runner(fileset_of(path), processor_instance=Measured())  # caches are written now
    warnings.simplefilter("ignore")

    def try_with(limit, folder):
        folder.mkdir()
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        with roastcoffea.monitor(folder, measurement_name="x") as run:
            output = runner(fileset_of(path), processor_instance=Measured())
            try:
                run._core.live_sync()
            except OSError:
                pass
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert output["n"] == EVENTS
        metrics = run.get_metrics()
        assert metrics["total_events"] == EVENTS
        if run.measurement_path is None:
            assert metrics["monitor_errors"] >= 1, metrics
            said = run._notes.first_error
            assert said.startswith(("output_dir: ", "live file: ")), said
            assert "monitor errors: " in run._page("text")
        assert run.save(folder / "later.roast").is_file()
        left = sorted(p.name for p in folder.iterdir())
        for name in left:
            if name.endswith("-live"):
                live = roastcoffea.open_run(folder / name)
                assert live.partial or len(live.chunk_metrics) == EVENTS // 100
        print("limit", limit, run.measurement_path is not None, "x.roast-live" in left)

    for limit in map(int, sys.argv[3:]):
        try_with(limit, Path(sys.argv[2], str(limit)))
"""
FULL_AT = (0, 100, 5000, 20_000, 100_000)
ROOM = 1 << 30


def test_disk_that_is_full_does_not_harm_the_analysis(tiny_file, tmp_path):
    said = run_python(FULL, tiny_file, tmp_path, *FULL_AT, ROOM)
    rows = [line.split()[1:] for line in said.splitlines() if line.startswith("limit")]
    assert rows.pop() == [str(ROOM), "True", "False"]
    assert [row[:2] for row in rows] == [[str(limit), "False"] for limit in FULL_AT]


@pytest.fixture
def little_disk(tmp_path):
    """A file system of 512 kB."""
    place = tmp_path / "little"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "none", place], capture_output=True
    )
    if made.returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_full_file_system_does_not_harm_the_analysis(little_disk, tiny_file):
    (little_disk / "filler").write_bytes(bytes(490_000))
    with (
        pytest.warns(UserWarning, match="could not write to") as warned,
        roastcoffea.monitor(little_disk, measurement_name="x") as run,
    ):
        output = make_runner(chunksize=10)(fileset_of(tiny_file), Measured())
    assert output["n"] == EVENTS
    assert len(warned) == 1
    assert run.get_metrics()["total_events"] == EVENTS
    assert run.get_metrics()["monitor_errors"] >= 1
    assert names(little_disk) == ["filler", "x.roast-live"]
    left = roastcoffea.open_run(little_disk / "x.roast-live")
    assert left.partial
    kept = f"; {len(left.chunk_metrics)} of {EVENTS // 10} chunks are in "
    assert kept in str(warned[0].message)
