# SPDX-License-Identifier: BSD-3-Clause
"""The folder through which processes hand over records: there while it is needed, gone
afterwards however the block or its process ended, never that of another."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from coffea.processor import FuturesExecutor, IterativeExecutor, ProcessorABC

from outputs import Measured, once, places, processes, run
from roastcoffea import monitor, spool, track_metrics

CHUNK = 500
EVENTS = 3000
HERE = Path(__file__).parent


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A temporary folder of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def folders(temporary):
    return sorted(temporary.glob(spool.PREFIX + "*"))


def forked():
    return FuturesExecutor(pool=ProcessPoolExecutor, workers=2, status=False)


# ---- gone when the block ends ------------------------------------------------------


def test_folder_is_there_in_the_block_and_gone_after_it(temporary, tiny_file):
    with monitor():
        run(Measured("dict"), tiny_file, processes(), CHUNK)
        (folder,) = folders(temporary)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert list(temporary.iterdir()) == []


def test_run_in_this_process_needs_no_folder(temporary, tiny_file):
    with monitor():
        run(Measured("dict"), tiny_file, IterativeExecutor(status=False), CHUNK)
        assert folders(temporary) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_folder_is_gone_after_an_exception_in_the_block(error, temporary, tiny_file):
    def block(collector):
        with collector:
            run(Measured("dict"), tiny_file, processes(), CHUNK)
            assert len(folders(temporary)) == 1
            raise error("mine")

    collector = monitor()
    with pytest.raises(error, match="mine"):
        block(collector)
    assert folders(temporary) == []
    assert places(collector.chunk_metrics) == once(tiny_file, CHUNK)


class Interrupted:
    """An output during whose merging Ctrl-C is pressed. A real signal may come
    while Python runs a callback that nothing can be raised from, and is dropped."""

    def __add__(self, other):
        raise KeyboardInterrupt


class Interrupting(ProcessorABC):
    @track_metrics
    def process(self, events):
        return {"n": Interrupted()}

    def postprocess(self, accumulator):
        return accumulator


def test_folder_is_gone_after_ctrl_c_in_a_run(temporary, tiny_file):
    """Coffea waits for the pool on its way out, so the chunks end, and are known."""
    with pytest.raises(KeyboardInterrupt), monitor() as collector:
        run(Interrupting(), tiny_file, forked(), CHUNK)
    assert folders(temporary) == []
    assert places(collector.chunk_metrics) == once(tiny_file, CHUNK)
    assert "KeyboardInterrupt" in collector.run._page("text")


# ---- left by a process that was killed ---------------------------------------------

SCRIPT = """
    import os, signal, sys
    from concurrent.futures import ProcessPoolExecutor
    from coffea.processor import FuturesExecutor
    from outputs import Measured, run
    from roastcoffea import monitor

    if __name__ == "__main__":
        with ProcessPoolExecutor(2) as pool, monitor() as collector:
            executor = FuturesExecutor(pool=pool, status=False)
            run(Measured("dict"), sys.argv[1], executor, 500)
            print("ready", *pool._processes, flush=True)
            sys.stdin.readline()
        print(len(collector.chunk_metrics), flush=True)
"""


class Other:
    """Another program that collects, until told to go on."""

    def __init__(self, temporary, tiny_file):
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tiny_file)],
            env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.workers = self.wait_for("ready")

    def wait_for(self, word):
        """The rest of the line that begins with it; coffea's bars are before it."""
        for line in self.process.stdout:
            if line.startswith(word):
                return [int(number) for number in line.split()[1:]]
        raise AssertionError("the other program ended early")


@pytest.fixture
def other(temporary, tiny_file):
    program = Other(temporary, tiny_file)
    yield program
    for pid in program.workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    program.process.kill()
    program.process.communicate()


def test_folder_of_a_killed_program_goes_with_the_next_collector(
    other, temporary, tiny_file
):
    """Its workers live on, as those of the standard library do: they do not use it."""
    (left,) = folders(temporary)
    other.process.kill()
    other.process.wait()
    assert all(Path(f"/proc/{pid}").exists() for pid in other.workers)
    with monitor() as collector:
        run(Measured("dict"), tiny_file, processes(), CHUNK)
        assert not left.exists()
        assert len(folders(temporary)) == 1
    assert places(collector.chunk_metrics) == once(tiny_file, CHUNK)


def test_folder_of_a_program_that_lives_is_left_alone(other, temporary, tiny_file):
    (theirs,) = folders(temporary)
    with monitor():
        run(Measured("dict"), tiny_file, processes(), CHUNK)
        assert len(folders(temporary)) == 2
    assert folders(temporary) == [theirs]
    output, _ = other.process.communicate("go\n")
    assert output.split()[-1] == str(3000 // CHUNK)
    assert folders(temporary) == []


def test_things_of_others_with_such_a_name_are_left_alone(temporary, tiny_file):
    file, link, full = (temporary / (spool.PREFIX + n) for n in ("a", "b", "c"))
    file.write_text("mine")
    link.symlink_to(HERE)
    full.mkdir()
    (full / "notes.txt").write_text("mine")
    with monitor():
        run(Measured("dict"), tiny_file, processes(), CHUNK)
    assert folders(temporary) == [file, link, full]
    assert (full / "notes.txt").read_text() == "mine"


def test_folder_taken_for_abandoned_before_it_was_locked(temporary, monkeypatch):
    """Another collector may look between its making and its locking."""
    make, taken = tempfile.mkdtemp, []

    def make_slowly(**options):
        folder = make(**options)
        if not taken:
            taken.append(folder)
            spool._remove_abandoned()
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", make_slowly)
    folder = spool.make()
    assert folders(temporary) == [Path(folder)]
    assert folder not in taken
    spool.remove(folder)
    assert folders(temporary) == []
