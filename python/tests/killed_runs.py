# SPDX-License-Identifier: BSD-3-Clause
"""Processes that measure a run and are killed in the middle of it.

    python killed_runs.py FILE FOLDER TRIALS SEED

Every trial is a forked child, because importing coffea takes seconds. It says on a pipe
how many of its chunks are on disk for good; the parent kills it at a random moment and
looks at what it left.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import roastcoffea
from collector_helpers import EVENTS, Measured, fileset_of, make_runner

CHUNKS = 30
SIZE = EVENTS // CHUNKS


class Reporting(Measured):
    """Before each chunk: those that are on disk."""

    def __init__(self, run: Any, pipe: int) -> None:
        self.run, self.pipe, self.done = run, pipe, 0

    def process(self, events: Any) -> Any:
        self.run._core.live_sync()
        os.write(self.pipe, b"%d\n" % self.done)
        self.done += 1
        return Measured.process(self, events)


def measure(path: str, folder: Path, pipe: int) -> None:
    runner = make_runner(chunksize=SIZE, processor_compression=None)
    with roastcoffea.monitor(folder, measurement_name="run") as run:
        runner(fileset_of(path), processor_instance=Reporting(run, pipe))
    os.write(pipe, b"end\n")


def start(path: str, folder: Path) -> tuple[int, Any]:
    """A child that measures, and what it says."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            measure(path, folder, writer)
        finally:
            os._exit(0)
    os.close(writer)
    return pid, os.fdopen(reader)


def kill_somewhere(pid: int, said: Any, moment: random.Random) -> int:
    """Kill it; how many chunks it had put on disk by its own word."""
    stop, done = moment.randrange(CHUNKS + 1), 0
    for line in said:
        if line == "end\n":
            return CHUNKS
        done = int(line)
        if done >= stop:
            break
    for _ in range(moment.randrange(200_000)):
        pass
    os.kill(pid, signal.SIGKILL)
    return max([done, *(int(x) if x != "end\n" else CHUNKS for x in said)])


def check(folder: Path, done: int) -> bool:
    """Whether what is left was a live file; it holds all that was promised."""
    live = folder / "run.roast-live"
    was_live = not (folder / "run" / "run.roast").exists()
    run = roastcoffea.open_run(live if was_live else folder / "run")
    assert run.partial == (run.t_end is None), run.info
    assert was_live or run.t_end is not None, run.info
    starts = [chunk["entry_start"] for chunk in run.chunk_metrics]
    assert starts == [n * SIZE for n in range(len(starts))], starts
    assert len(starts) >= done, (len(starts), done)
    events = run.get_metrics().get("total_events_from_chunks", 0)
    assert events == len(starts) * SIZE, events
    if done:
        assert run._notes.text("processor") == "Reporting"
        assert run.provenance["fileset_sha256"]
        missing = run.failed_fileset()
        may_have_returned = len(starts) == CHUNKS  # and was killed on its way out
        assert bool(missing) == was_live or may_have_returned, missing
        assert not missing or missing.keys() == fileset_of("").keys(), missing
        items = run.failed_items()  # those of the live file were planned before
        assert len(items) == (CHUNKS if missing else 0), items
    for other in folder.rglob("*.roast*"):
        roastcoffea.open_run(other).get_metrics()
    return was_live


def main() -> None:
    path, folder, trials, seed = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])
    moment = random.Random(seed)
    killed = 0
    for trial in range(trials):
        place = folder / str(trial)
        pid, said = start(path, place)
        with contextlib.closing(said):
            done = kill_somewhere(pid, said, moment)
        os.waitpid(pid, 0)
        killed += check(place, done)
    print(f"killed in the middle: {killed} of {trials}")


if __name__ == "__main__":
    main()
