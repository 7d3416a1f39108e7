# SPDX-License-Identifier: BSD-3-Clause
"""Saving runs: where, when, and what is refused."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import roastcoffea
from collector_helpers import CHUNKS, Measured, Plain, fileset_of, make_runner
from roastcoffea import StoreError, _core
from saved_run_samples import measured, same


@pytest.fixture(scope="module")
def small(tiny_file):
    return measured(tiny_file)


@pytest.mark.parametrize(
    "kind", [str, Path, os.fsencode], ids=lambda kind: kind.__name__
)
def test_nothing_is_appended_to_the_path(kind, small, tmp_path):
    path = kind(tmp_path / "no suffix")
    if kind is os.fsencode:
        path = os.fsdecode(path)
    assert small.save(path) == tmp_path / "no suffix"
    assert [p.name for p in tmp_path.iterdir()] == ["no suffix"]


def test_collector_saves_its_latest_run(tiny_file, tmp_path):
    collector = roastcoffea.MetricsCollector(None)
    with pytest.raises(RuntimeError, match=r"^Timing not available"):
        collector.save(tmp_path / "x")
    with collector:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    assert collector.save(tmp_path / "x") == tmp_path / "x"
    assert roastcoffea.open_run(tmp_path / "x").id == collector.run.id


def test_existing_file_is_replaced_only_with_overwrite(small, tmp_path):
    path = tmp_path / "x.roast"
    saved_run().save(path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"x\.roast exists: overwrite=True"):
        small.save(path)
    assert path.read_bytes() == before
    small.save(path, overwrite=True)
    assert roastcoffea.open_run(path).id == small.id
    assert list(tmp_path.iterdir()) == [path]


def saved_run():
    core = _core.Run(0, 10**18)
    core.finish(10**9)
    return roastcoffea.run.Run(core)


def make_text(path):
    path.write_text("mine")


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # its whole path may be too long


def identity_of(path):
    state = path.lstat()  # reading a link changes its time of access
    return state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns


@pytest.mark.parametrize(
    "make",
    [make_text, make_socket, os.mkfifo, lambda path: path.symlink_to("/dev/null")],
)
def test_only_run_files_are_replaced(make, small, tmp_path):
    path = tmp_path / "x.roast"
    make(path)
    before = identity_of(path)
    with pytest.raises(StoreError, match="it is no run file, and is not replaced"):
        small.save(path, overwrite=True)
    assert identity_of(path) == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("target", ["there", "empty", "gone"])
def test_link_is_not_followed(target, small, tmp_path):
    saved_run().save(tmp_path / "there")
    before = (tmp_path / "there").read_bytes()
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to(tmp_path / target)
    with pytest.raises(FileExistsError):
        small.save(tmp_path / "link")
    small.save(tmp_path / "link", overwrite=True)
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_bytes() == before
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("path", ["no/such/folder", "folder", "x" * 300])
def test_path_that_cannot_be_written_is_refused(path, small, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=path[:50]) as refused:
        small.save(tmp_path / path, overwrite=True)
    assert isinstance(refused.value, StoreError)
    assert refused.value.code == "IO"
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_run_that_goes_on_is_saved_as_far_as_it_is(tiny_file, tmp_path):
    runner = make_runner()
    with roastcoffea.monitor() as run:
        runner(fileset_of(tiny_file), processor_instance=Measured())
        first = roastcoffea.open_run(run.save(tmp_path / "first"))
        runner(fileset_of(tiny_file), processor_instance=Measured())
    last = roastcoffea.open_run(run.save(tmp_path / "last"))
    assert first.partial
    assert first.t_end is None
    assert not last.partial
    assert len(first.chunk_metrics) == CHUNKS
    assert len(last.chunk_metrics) == 2 * CHUNKS
    assert first.id == last.id
    assert "UNFINISHED" in str(first)


def test_what_is_added_later_is_saved_later(tiny_file, tmp_path):
    with roastcoffea.monitor() as run:
        make_runner()(fileset_of(tiny_file), processor_instance=Plain())
    run.save(tmp_path / "before")
    run.record_section_metrics({"section_name": "late", "time_delta": 2.0})
    run.set_coffea_report({"entries": 3000}, custom_metrics={"late": 1})
    run.save(tmp_path / "after")
    before, after = map(roastcoffea.open_run, sorted(tmp_path.iterdir(), reverse=True))
    assert before.section_metrics == []
    assert "late" not in before.get_metrics()
    assert after.get_metrics()["late"] == 1
    assert after.get_metrics()["sections"]["late"]["total"] == 2.0


def test_opened_run_is_saved_with_a_config(small, tmp_path):
    opened = roastcoffea.open_run(small.save(tmp_path / "x"))
    folder = opened.save_measurement(tmp_path, "m", config={"a": (1, 2)})
    again = roastcoffea.open_run(folder)
    assert again._notes.document("config") == {"a": (1, 2)}
    assert again._core.chunks() == small._core.chunks()


def test_many_records_made_by_hand_come_back(tmp_path):
    with roastcoffea.monitor() as run:
        for n in range(2500):
            run.record_chunk_metrics({"num_events": n, "mine": (n, "x")})
    opened = roastcoffea.open_run(run.save(tmp_path / "x"))
    assert same(opened.chunk_metrics, run.chunk_metrics)
    assert sorted(chunk["mine"][0] for chunk in opened.chunk_metrics) == list(
        range(2500)
    )


def test_switched_off_run_shows_it_after_opening(tmp_path):
    from roastcoffea import _probe

    _probe.configure(enabled=False)
    try:
        with roastcoffea.monitor() as run:
            pass
    finally:
        _probe.configure(enabled=True)
    opened = roastcoffea.open_run(run.save(tmp_path / "x"))
    assert str(opened) == str(run) == "roastcoffea is switched off (ROASTCOFFEA=off)"
