# SPDX-License-Identifier: BSD-3-Clause
"""Runs for the tests of the program: made by hand, the same to the last bit each time.

Every clock reading is given, so the pages that the program shows can be compared whole.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import handmade_frames
from roastcoffea import _core, _probe
from roastcoffea.coffea.fileset import text_of

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
EPOCH_NS = 1_763_215_323_000_000_000  # 15 Nov 2025 14:02:03 UTC
SECOND = 1_000_000_000
ID = "0123456789abcdef" * 2
OTHER_ID = "fedcba9876543210" * 2
RED = "\x1b[31mred\x07\n\u202e"  # what must never reach a terminal


def record(number: int, **more: Any) -> dict[str, Any]:
    """A chunk of 100 events that began ``number`` seconds into the run."""
    start = EPOCH_NS / 1e9 + number
    return {
        "dataset": "ttbar",
        "file": "/data/a.root",
        "treename": "Events",
        "uuid": "1825cd4a-2943-11f1-9dd5-001a4abb4031",
        "entry_start": 100 * number,
        "entry_stop": 100 * number + 100,
        "num_events": 100,
        "t_start": start,
        "duration": 0.5,
        "cpu_time": 0.375,
        "bytes_read": 4096,
        "bytes_before_process": 1_000_000,
        "host": "here",
        "pid": 4242,
        "mem_before_mb": 200,
        "mem_after_mb": 210,
        "status": "ok",
        **more,
    }


def begun(**notes: str) -> _core.Run:
    """A run that began, on a host called ``here``."""
    run = _core.Run(SECOND, EPOCH_NS, "here")
    words = {"id": ID, "processor": "Analysis"}
    for name, text in (words | notes).items():
        run.set_note("run", name, text)
    run.set_note("run", "executor", "Futures, 2 workers")
    run.offer(EPOCH_NS, 2, 2)
    return run


def add(run: _core.Run, *records: dict[str, Any]) -> None:
    for number, one in enumerate(records, 1):
        run.add_frames(_probe.frame_of(one, number), True)


A = {"a": "0 100 4"}  # files and the stretches of their items
ABC = {"a": "0 100 2", "b": "200 100 1", "c": "0 100 1"}


def add_call(
    run: _core.Run, meta: str, files: dict[str, str], result: str | None = None
) -> None:
    """A call of the Runner, see coffea/plan.py."""
    uuid = "1825cd4a294311f19dd5001a4abb4031"
    rows = ["dataset\tttbar", meta]
    for name, items in files.items():
        rows += [f"file\t/data/{name}.root\t{uuid}\tEvents", f"items\t{items}"]
    run.set_note("call", "1 call", "processor\tAnalysis")
    run.set_note("call", "1 items", "\n".join(rows))
    run.set_note("call", "1 result", result)


def good() -> _core.Run:
    """Four chunks of one file that went well."""
    run = begun()
    sections = [{"section_name": "jets", "time_delta": 0.25, "count": 2, "depth": 0}]
    ladder = {"open": 0.0625, "form": 0.125, "compute": 0.3125}
    add(
        run,
        *(record(i, timing={"jets": 0.25}, sections=sections) for i in range(3)),
        record(3, ladder=ladder, task_time=0.5, custom_metrics={"n": [1, None, "é"]}),
    )
    for name, value in {"site": "T2_DE", "user": "me"}.items():
        run.set_note("label", name, value)
    run.set_note("provenance", "coffea", "2026.1")
    add_call(run, "", A, f"in\t0\t{A['a']}")
    run.finish(SECOND + 5 * SECOND)
    return run


def bad() -> _core.Run:
    """A chunk that failed for good, one that was made good, files never tried."""
    run = begun(failure="OSError: [Errno 5] Input/output error")
    error = {
        "status": "failed",
        "error_type": "OSError",
        "error_message": "[Errno 5] Input/output error",
    }
    add(
        run,
        record(0),
        record(1, **error),
        record(2, file="/data/b.root", **error),
        record(2, file="/data/b.root", t_start=EPOCH_NS / 1e9 + 4),
    )
    fileset = {
        "ttbar": {
            "files": {f"/data/{x}.root": "Events" for x in "abc"},
            "metadata": {"xsec": 831.76},
        }
    }
    add_call(run, 'usermeta\t{"xsec":831.76}', ABC)
    run.set_note("call", "1 given", text_of(fileset))
    run.finish(SECOND + 60 * SECOND)
    return run


def hostile() -> _core.Run:
    """Names that do their worst."""
    run = begun(processor=RED)
    add(
        run,
        record(0, dataset=RED, file="=cmd|'/c calc'!A1"),
        record(1, dataset='a,"b"', file="-1+1", mine={RED: [RED]}),
    )
    run.set_note("label", RED, "@SUM(A1)")
    run.finish(SECOND + 5 * SECOND)
    return run


def live(path: Path) -> None:
    """A run whose collector was killed, and whose last block was cut."""
    run = _core.Run(SECOND, EPOCH_NS, "here")
    run.live_open(path)
    run.set_note("run", "processor", "Analysis")
    add_call(run, "", A)
    run.offer(EPOCH_NS, 2, 2)
    for number in range(2):  # a block each
        run.add_frames(_probe.frame_of(record(number), number + 1), True)
        run.live_sync()
    whole = path.read_bytes()
    run.live_close(False)
    path.write_bytes(whole[:-5])


def begun_attempt() -> bytes:
    """An attempt that never ended, of a file without a known name."""
    identity = bytes(16) + (77).to_bytes(8, "little") + (1).to_bytes(4, "little")
    place = b"".join(n.to_bytes(4, "little") for n in (11, 22, 0, 100))
    return handmade_frames.frame(handmade_frames.BEGIN, identity=identity, place=place)


def twelve(
    slower: float = 1.0,
    threads: int = 2,
    seconds: float = 6.0,
    size: int = 1,
    **notes: str,
) -> _core.Run:
    """Chunks of two sizes whose CPU time is spread, all of it times ``slower``."""
    run = begun(**notes)
    run.offer(EPOCH_NS, threads, threads)
    spread = (1.0, 1.03, 0.98, 1.08, 0.95, 1.01, 1.02)
    for number in range(12):
        events = (100 if number % 2 else 200) * size
        noise = spread[int(number * slower * slower) % 7]  # others in a slower run
        cpu = (0.125 + events / 1000) * noise * slower
        times = {"cpu_time": cpu, "duration": cpu * 1.25, "task_time": cpu * 1.5}
        start = {"t_start": EPOCH_NS / 1e9 + number * 0.25}
        one = record(number, num_events=events, **times, **start)
        run.add_frames(_probe.frame_of(one, number + 1), True)
    run.finish(SECOND + int(seconds * SECOND))
    return run


def in_part() -> _core.Run:
    """A result that lacks half of a file and a file without items, after a processor
    that changes its output at the end."""
    run = good()
    run.set_note("call", "1 call", "processor\tAnalysis\npostprocess\tchanges")
    run.set_note("call", "1 result", "in\t0\t0 100 2")
    given = {"ttbar": {"files": {f"/data/{x}.root": "Events" for x in "az"}}}
    run.set_note("call", "1 given", text_of(given))
    return run


def write_compared(folder: Path) -> None:
    """Runs that differ in one thing: CPU time, or the number of threads; and one whose
    result is not whole."""
    folder.mkdir()
    in_part().save(folder / "part.roast")
    twelve().save(folder / "before.roast")
    twelve(1.25).save(folder / "after.roast")
    twelve(0.5, processor="Other").save(folder / "other.roast")
    twelve(size=4).save(folder / "coarse.roast")
    twelve(1, 16, 4.5).save(folder / "threads16.roast")
    for threads, seconds in {1: 20.0, 2: 10.25, 4: 5.5, 8: 3.25}.items():
        twelve(1, threads, seconds).save(folder / f"threads{threads}.roast")


def used(
    number: int,
    week: int = 0,
    failure: str | None = None,
    threads: int = 2,
    processor: str = "Analysis",
    **labels: str,
) -> _core.Run:
    """An hour of two threads: four chunks of 20 minutes, 15 of them on a CPU; in a run
    that failed, the last one failed. Without ``threads`` their number is not known."""
    epoch_ns = EPOCH_NS + week * 7 * 24 * 3600 * SECOND
    run = _core.Run(SECOND, epoch_ns, "here")
    notes = {"id": f"{number:032x}", "processor": processor, "failure": failure}
    for name, text in notes.items():
        run.set_note("run", name, text)
    for name, text in labels.items():
        run.set_note("label", name, text)
    if threads:
        run.offer(epoch_ns, threads, threads)
    for i in range(4):
        one = record(
            i,
            dataset="wjets" if i == 2 else "ttbar",
            t_start=epoch_ns / 1e9 + i // 2 * 1200,
            duration=1200,
            task_time=1200,
            cpu_time=900,
            task_cpu_time=900,
            pid=4242 + i % 2,
            status="failed" if failure and i == 3 else "ok",
        )
        run.add_frames(_probe.frame_of(one, i + 1), True)
    run.finish(SECOND + 3600 * SECOND)
    return run


def write_facility(folder: Path) -> None:
    """Runs of two users at two sites in two weeks, one of them twice."""
    for name in ("alice", "bob"):
        (folder / name).mkdir(parents=True)
    used(1, user="alice", site="T2_DE").save(folder / "alice" / "monday.roast")
    failed = used(2, 1, "OSError: gone", user="alice", site="T2_DE")
    failed.save(folder / "alice" / "failed.roast")
    shutil.copy(folder / "alice" / "monday.roast", folder / "bob" / "copy.roast")
    skim = used(3, 1, processor="Skim", user="bob", site="T3_US")
    skim.save(folder / "bob" / "skim.roast")
    used(4, 1, threads=0).save(folder / "bob" / "unlabelled.roast")


def write_taken(folder: Path) -> None:
    """A run, the live file that it was, and two others whose names were taken."""
    for name in ("monday", "tuesday", "wednesday"):
        (folder / name).mkdir(parents=True)
        good().save(folder / name / "run.roast")
    others = {"monday": ID, "tuesday": OTHER_ID, "wednesday": "3" * 32}
    for second, (name, run_id) in enumerate(others.items(), 1):
        path = folder / f"{name}.roast-live"
        run = _core.Run(SECOND, EPOCH_NS + second * SECOND, "here")
        run.live_open(path)
        run.set_note("run", "id", run_id)
        run.set_note("run", "processor", name.title())
        add(run, record(4))
        if name == "wednesday":
            run.add_frames(begun_attempt(), True)
            run.save(folder / "saved.roast")
        else:
            run.finish(6 * SECOND)
        run.live_close(False)
        os.utime(path, (second, second))  # older than all others


def write_all(folder: Path) -> None:
    """All of them in a folder, beside things that are no runs."""
    good().save(folder / "good.roast")
    bad().save(folder / "bad.roast")
    hostile().save(folder / "hostile.roast")
    live(folder / "live.roast-live")
    whole = (folder / "good.roast").read_bytes()
    (folder / "cut.roast").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.roast").touch()
    (folder / "words.txt").write_text("no run at all\n")
    several = folder / "several"
    several.mkdir()
    for name in ["bad", "good"]:
        shutil.copy(folder / f"{name}.roast", several)
    (folder / "nothing").mkdir()
    shutil.copytree(FIXTURES / "measurement_0_1_2", folder / "old")
