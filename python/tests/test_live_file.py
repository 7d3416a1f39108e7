# SPDX-License-Identifier: BSD-3-Clause
"""The live file of ``_core.Run``: written while the run grows, never by a forked child,
and closed however the run ends."""

from __future__ import annotations

import os
import threading

import pytest

from roastcoffea import _core, _probe

MONO, EPOCH = 5 * 10**12, 1_760_000_000 * 10**9


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.roast-live"


@pytest.fixture
def run(path):
    made = _core.Run(MONO, EPOCH, "here")
    made.live_open(path)
    return made


def fill(run):
    run.accept(bytes(16))
    run.set_note("run", "id", "0" * 32)
    run.set_note("label", "token", "secret")
    run.add_sample("worker", EPOCH + 10**9, {"worker_memory": 5.0})
    run.offer(EPOCH, 2, 4)
    run.mark("run_begin", MONO + 1)
    run.set_fact("report_events", 7)
    run.lose("frames_dropped", 3)
    run.finish(MONO + 10**9)


def test_state_counts_what_is_safe(run):
    fill(run)
    run.live_sync()
    state = run.live_state()
    assert state.pop("first_error") == ""
    assert state == dict(queued=9, written=9, acknowledged=9, dropped=0, errors=0)


def test_without_live_file_nothing_happens():
    run = _core.Run(MONO, EPOCH)
    assert run.live_state() is None
    run.live_sync()
    run.live_close()
    run.live_close(True)


def test_file_is_the_run(run, path):
    fill(run)
    run.live_close(False)
    assert run.live_state() is None
    opened = _core.open_run(path)
    assert opened.span() == run.span()
    assert opened.notes("label") == {"token": "***"}
    assert opened.tracking() == run.tracking()
    assert b"secret" not in path.read_bytes()


def test_removed_file_is_gone(run, path):
    fill(run)
    run.live_close(True)
    assert not path.exists()
    fill(run)  # the run goes on


def test_dropped_run_writes_the_rest(path):
    run = _core.Run(MONO, EPOCH, "here")
    run.live_open(str(path))
    fill(run)
    span = run.span()
    del run
    assert _core.open_run(path).span() == span


def test_taken_path_is_refused(run, path):
    other = _core.Run(MONO, EPOCH)
    with pytest.raises(OSError, match="File exists") as caught:
        other.live_open(path)
    assert isinstance(caught.value, _core.StoreError)
    assert caught.value.code == "IO"


def test_too_late_is_refused(path):
    run = _core.Run(MONO, EPOCH)
    fill(run)
    with pytest.raises(_probe.RoastError, match="open the file first"):
        run.live_open(path)
    assert not path.exists()


def test_forked_child_leaves_it_alone(run, path):
    run.set_fact("report_events", 1)
    run.live_sync()
    size = path.stat().st_size
    child = os.fork()
    if child == 0:
        run.set_fact("report_events", 2)
        run.live_sync()
        quiet = run.live_state() is None
        run.live_close(True)
        os._exit(0 if quiet else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert path.stat().st_size == size
    run.live_sync()
    assert run.live_state()["acknowledged"] == 1


def test_threads_may_sync_and_close_at_once(run, path):
    def work():
        for _ in range(50):
            run.add_fact("report_events", 1)
            run.live_sync()
            run.live_state()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    run.live_close(False)
    for thread in threads:
        thread.join()
    assert _core.open_run(path).info()["damaged"] == 0
