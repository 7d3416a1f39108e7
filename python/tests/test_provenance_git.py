# SPDX-License-Identifier: BSD-3-Clause
"""Which code was run: its commit, and whether it was changed since."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import roastcoffea
from roastcoffea import provenance

git = shutil.which("git")
needs_git = pytest.mark.skipif(git is None, reason="git is not installed")


def run_git(folder, *arguments):
    identity = ("-c", "user.name=x", "-c", "user.email=x@x")
    done = subprocess.run(
        [git, *identity, *arguments],
        cwd=folder,
        env=os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "analysis"
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "main")
    (folder / "code").mkdir()
    (folder / "code" / "a.py").write_text("1")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-q", "-m", "x")
    return folder


def detach(folder):
    run_git(folder, "checkout", "-q", "--detach")


def pack(folder):
    run_git(folder, "pack-refs", "--all")
    assert not (folder / ".git" / "refs" / "heads" / "main").exists()


@needs_git
@pytest.mark.parametrize("change", [None, detach, pack])
def test_commit_is_read_from_files(change, repository):
    if change:
        change(repository)
    commit = run_git(repository, "rev-parse", "HEAD")
    assert provenance.commit_of(repository / "code") == commit
    assert provenance.git_state(repository / "code")["git_commit"] == commit


@needs_git
def test_commit_of_a_worktree_is_its_own(repository, tmp_path):
    run_git(repository, "worktree", "add", "-q", "-b", "side", tmp_path / "side")
    (tmp_path / "side" / "b").write_text("2")
    run_git(tmp_path / "side", "add", ".")
    run_git(tmp_path / "side", "commit", "-q", "-m", "y")
    commit = run_git(tmp_path / "side", "rev-parse", "HEAD")
    assert provenance.commit_of(tmp_path / "side") == commit
    assert provenance.commit_of(repository) != commit


@needs_git
def test_changed_file_makes_it_dirty_and_a_new_one_does_not(repository):
    (repository / "new").write_text("x")
    assert provenance.git_state(repository)["git_dirty"] == "no"
    (repository / "code" / "a.py").write_text("22")
    assert provenance.git_state(repository)["git_dirty"] == "yes"


@needs_git
def test_looking_does_not_change_the_repository(repository):
    def state():
        return {
            path: path.stat().st_mtime_ns
            for path in repository.rglob("*")
            if path.is_file()
        }

    (repository / "code" / "a.py").touch()  # git would refresh its index
    before = state()
    provenance.git_state(repository)
    assert state() == before


def test_without_a_repository_there_is_no_commit(tmp_path):
    assert provenance.commit_of(tmp_path) is None
    assert provenance.git_state(tmp_path) == {}


@pytest.mark.parametrize(
    "head", ["", "ref: refs/heads/gone", "ref: ", "x" * 40, "\0", "ref: ../../x"]
)
def test_damaged_repository_has_no_commit(head, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert provenance.commit_of(tmp_path) is None


def test_without_git_dirty_is_not_known(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with roastcoffea.monitor() as run:
        pass
    assert run.provenance["git_dirty"] == "not known"


def test_git_that_does_not_answer_is_not_waited_for(tmp_path, monkeypatch):
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(provenance, "GIT_TIMEOUT_S", 0.1)
    assert provenance.git_state(tmp_path) == {}


def test_folder_of_the_script_may_be_gone(monkeypatch, tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", None, raising=False)
    folder.rmdir()
    assert provenance.folder_of_script() == Path("/")
