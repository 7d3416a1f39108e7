# SPDX-License-Identifier: BSD-3-Clause
"""The cases of runs that last: samples added up, runs saved, opened and shown.

Each returns what `count` uses cost per record or per 1000 values, in nanoseconds or
bytes. The two packages write different files: 0.1.2 a measurement directory, we a run
file. What they are given is the same, in an amount that fits: a million of 0.1.2's
records would take minutes and fill the machine.
"""

from __future__ import annotations

import functools
import io
import itertools
import random
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import records

THEIRS = records._core is None
CHUNKS = 20_000 if THEIRS else 1_000_000
WORKERS, TICKS = (100, 400) if THEIRS else (1000, 2000)
SERIES = "worker_memory worker_memory_limit worker_active_tasks worker_cpu worker_cores"
LOOKED_AT = "worker_memory worker_cores"  # by 0.1.2, when it adds up
VALUES = WORKERS * TICKS * len(SERIES.split())
START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND_NS = 1_000_000_000
numbers = itertools.count()


@functools.cache
def folder() -> Path:
    holder = tempfile.TemporaryDirectory()
    keep.append(holder)  # until the process ends
    return Path(holder.name)


keep: list[Any] = []
clock = time.perf_counter_ns
cpu_clock = time.thread_time_ns


# ---- what is saved -------------------------------------------------------------------


def walk(seed: int) -> Any:
    """What a worker says every second: memory wanders, the rest changes at times."""
    draw = random.Random(seed)
    memory = 1_000_000_000
    while True:
        memory += draw.randrange(-2_000_000, 2_100_000)
        cpu = round(90 + 20 * draw.random(), 1)
        yield memory, 4_000_000_000, draw.randrange(3), cpu, 1


@functools.cache
def samples(series: str = SERIES) -> Any:
    """The samples of a run: a dict for 0.1.2, a run without chunks for us."""
    if THEIRS:
        return theirs_sampled(named_workers(), series.split())
    run = records._core.Run(0, int(START.timestamp()) * SECOND_NS)
    add_samples(run, series)
    run.finish(TICKS * SECOND_NS)
    return run


def add_samples(run: Any, series: str = SERIES) -> None:
    workers = named_workers()
    wanted = [SERIES.split().index(name) for name in series.split()]
    for tick in range(TICKS):
        now = (int(START.timestamp()) + tick) * SECOND_NS
        for worker, walks in workers.items():
            values = next(walks)
            chosen = [values[at] for at in wanted]
            sample = dict(zip(series.split(), chosen, strict=True))
            run.add_sample(worker, now, sample)
        run.add_count(now, WORKERS)


def named_workers() -> dict[str, Any]:
    return {f"tcp://10.0.0.{n}:4000": walk(n) for n in range(WORKERS)}


def theirs_sampled(workers: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    times = [START + timedelta(seconds=tick) for tick in range(TICKS)]
    found: dict[str, Any] = {name: {} for name in SERIES.split()}
    for worker, values in workers.items():
        rows = zip(*itertools.islice(values, TICKS), strict=True)
        for name, row in zip(found, rows, strict=True):
            if name in wanted:
                found[name][worker] = list(zip(times, row, strict=True))
    return {"worker_counts": dict.fromkeys(times, WORKERS)} | found


@functools.cache
def chunks() -> Any:
    """The records of a run: dicts for 0.1.2, a run without samples for us."""
    if THEIRS:
        return [records.sent_plain(number)[0] for number in range(CHUNKS)]
    place = folder() / "spool"
    place.mkdir()
    records.write(place)
    run = records.take_in(place)
    run.unwatch()
    run.finish(SECOND_NS)
    shutil.rmtree(place, ignore_errors=True)
    return run


def metrics_of(**parts: Any) -> dict[str, Any]:
    from roastcoffea.aggregation.core import MetricsAggregator

    whole = {"tracking_data": None, "chunk_metrics": None} | parts
    result: dict[str, Any] = MetricsAggregator("dask").aggregate(
        {"bytesread": 1, "entries": 1, "processtime": 1, "chunks": 1},
        t_start=START.timestamp(),
        t_end=START.timestamp() + TICKS,
        **whole,
    )
    return result


# ---- saving --------------------------------------------------------------------------


@functools.cache
def to_save(what: str) -> Any:
    kept = chunks() if what == "chunks" else samples()
    if not THEIRS:
        return kept
    name = "chunk_metrics" if what == "chunks" else "tracking_data"
    metrics = metrics_of(**{name: kept})
    return metrics | {"raw_chunk_metrics" if what == "chunks" else name: kept}


def save(what: str) -> Path:
    """Saves once more; where."""
    kept = to_save(what)
    path = folder() / f"{what}-{next(numbers)}.roast"
    if THEIRS:
        from roastcoffea.export.measurements import save_measurement

        start = START.timestamp()
        return Path(save_measurement(kept, start, start + TICKS, folder(), path.name))
    kept.save(str(path))
    return path


def size_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def saving(what: str, items: int, count: int) -> int:
    to_save(what)
    took = 0
    for _ in range(count):
        start = clock()
        path = save(what)
        took += clock() - start
        remove(path)
    return round(took / items)


@functools.cache
def saved(what: str) -> Path:
    return save(what)


def f1(count: int) -> int:
    return saving("chunks", CHUNKS, count)


def f1b(count: int) -> int:
    return round(count * size_bytes(saved("chunks")) / CHUNKS)


def f2(count: int) -> int:
    """Of 1000 values: one takes us a nanosecond or so."""
    return saving("samples", VALUES // 1000, count)


def f2b(count: int) -> int:
    return round(count * 1000 * size_bytes(saved("samples")) / VALUES)


# ---- opening -------------------------------------------------------------------------


def f3(count: int) -> int:
    """Of 1000."""
    path = saved("chunks")
    start = clock()
    for _ in range(count):
        if THEIRS:
            import cold

            cold.show(path, io.StringIO())
        else:
            records._core.open_run(str(path)).page("text")
    return round(1000 * (clock() - start) / CHUNKS)


def f5(count: int) -> int:
    """A new process that shows a small run; theirs is Python with the package."""
    command = [str(Path(sys.executable).with_name("roast")), "report"]
    if THEIRS:
        command = [sys.executable, str(Path(__file__).with_name("cold.py"))]
    path = small()
    start = clock()
    for _ in range(count):
        subprocess.run([*command, str(path)], check=True, stdout=subprocess.DEVNULL)
    return clock() - start


@functools.cache
def small() -> Path:
    if THEIRS:
        from roastcoffea.export.measurements import save_measurement

        metrics = metrics_of(chunk_metrics=chunks()[:10])
        start = START.timestamp()
        return Path(save_measurement(metrics, start, start + 10, folder(), "small"))
    run = records._core.Run(0, 0)
    run.accept(records.RUN_ID)
    run.add_frames(b"".join(records.sent_plain(n)[0] for n in range(10)))
    run.finish(SECOND_NS)
    path = folder() / "small.roast"
    run.save(str(path))
    return path


# ---- adding up -----------------------------------------------------------------------


def adding(kept: Any, count: int) -> int:
    """Of 1000 workers at one moment; of CPU: nothing here waits."""
    start = cpu_clock()
    for _ in range(count):
        if THEIRS:
            metrics_of(tracking_data=kept)
        else:
            kept.metrics()
    return round(1000 * (cpu_clock() - start) / (WORKERS * TICKS))


def e2(count: int) -> int:
    """Of what 0.1.2 looks at: every value of memory, one of a worker's cores. From the
    same samples we make what it makes of them, and more."""
    return adding(samples(LOOKED_AT), count)


def e2s(count: int) -> int:
    """Of all five series. 0.1.2 passes over three of them, we over one."""
    return adding(samples(), count)


def e3(count: int) -> int:
    """Bytes of a run of 10^6 chunks and 10^7 samples at its peak: taken in, added up
    and saved; scaled from a smaller run where that is all that fits."""
    command = [sys.executable, str(Path(__file__).with_name("peak.py"))]
    peak_bytes = int(subprocess.check_output(command, text=True))
    return peak_bytes * count


CASES = {name: globals()[name] for name in "e2 e2s e3 f1 f1b f2 f2b f3 f5".split()}
