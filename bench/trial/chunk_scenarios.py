# SPDX-License-Identifier: BSD-3-Clause
"""Causes inside chunks, and in how the work is cut into chunks."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from trial.analyses import (
    KEPT,
    collect_garbage,
    compute,
    fail_in,
    fill_up_to,
    keep,
    loop,
    read,
    rest,
    rest_in_file,
)
from trial.files import EVENTS, ROOT, TREE, Files, Fileset, fileset
from trial.places import (
    DASK,
    DASK_WIDE,
    ITERATIVE,
    PROCESSES,
    THREADS,
    Opened,
    Place,
)
from trial.scenarios import scenario
from trial.setups import Setup

sys.path.append(str(ROOT / "python" / "tests"))

from slow_server import Handler, SlowServer

CORES = len(os.sched_getaffinity(0))

# ---- chunks and files ----------------------------------------------------------------


def small_chunks(place: Place, files: Files) -> Setup:
    """75 chunks, each of which must learn about 150 branches."""
    step = partial(rest, each_s=0.0002)
    return Setup(place, fileset(data=files.wide()), (step,), chunksize=40)


BUILDING = {"garbage_collection": "building events makes many Python objects"}


@scenario("chunks_too_small", allowed=BUILDING)
def small_chunks_iterative(files: Files) -> Setup:
    return small_chunks(ITERATIVE, files)


@scenario("chunks_too_small", allowed=BUILDING)
def small_chunks_processes(files: Files) -> Setup:
    return small_chunks(PROCESSES, files)


@scenario("chunks_too_small", allowed=BUILDING)
def small_chunks_dask(files: Files) -> Setup:
    return small_chunks(DASK, files)


def cut_baskets(place: Place, files: Files) -> Setup:
    """16 chunks of a file with one basket per column, which each of them unpacks."""
    path = files.packed("LZMA", events=200_000, parts=1)
    steps = (
        partial(read, names=tuple(f"x{n}" for n in range(4))),
        partial(rest, each_s=5e-6),
    )
    return Setup(place, fileset(data=path), steps, chunksize=12_500)


@scenario("chunks_too_small")
def cut_baskets_iterative(files: Files) -> Setup:
    return cut_baskets(ITERATIVE, files)


@scenario("chunks_too_small")
def cut_baskets_processes(files: Files) -> Setup:
    return cut_baskets(PROCESSES, files)


def small_files(place: Place, files: Files) -> Setup:
    step = partial(rest, each_s=0.0002)
    return Setup(place, fileset(data=files.wide_parts(80)), (step,))


@scenario("files_too_small", allowed=BUILDING)
def small_files_iterative(files: Files) -> Setup:
    return small_files(ITERATIVE, files)


@scenario("files_too_small", allowed=BUILDING)
def small_files_processes(files: Files) -> Setup:
    return small_files(PROCESSES, files)


def one_chunk(place: Place, kind: str, files: Files) -> Setup:
    """A file that is one chunk, for several threads."""
    options = {"format": "parquet"} if kind == "parquet" else {}
    step = partial(rest, each_s=6 / EVENTS)
    files_ = fileset(data=files.small(kind))
    return Setup(place, files_, (step,), chunksize=100_000, runner=options)


@scenario("few_threads_busy")
def one_chunk_processes(files: Files) -> Setup:
    return one_chunk(PROCESSES, "ttree", files)


@scenario("few_threads_busy")
def one_chunk_dask(files: Files) -> Setup:
    return one_chunk(DASK, "rntuple", files)


@scenario("few_threads_busy")
def one_chunk_threads(files: Files) -> Setup:
    return one_chunk(THREADS, "parquet", files)


# ---- the last chunks -----------------------------------------------------------------


def slow_file(place: Place, files: Files) -> Setup:
    """The last file takes as long as all others together."""
    copies = [files.small(name=f"copy{n}") for n in range(8)]
    slow = files.small(name="slow")
    steps = (
        partial(rest, each_s=0.5 / EVENTS),
        partial(rest_in_file, name=slow.name, each_s=3.5 / EVENTS),
    )
    return Setup(place, fileset(data=[*copies, slow]), steps)


@scenario("last_chunks", is_quick=True)
def slow_file_dask(files: Files) -> Setup:
    return slow_file(DASK, files)


@scenario("last_chunks")
def slow_file_processes(files: Files) -> Setup:
    return slow_file(PROCESSES, files)


@scenario("last_chunks")
def three_chunks_for_two(files: Files) -> Setup:
    """One thread has two chunks to do, the other one."""
    step = partial(rest, each_s=9 / EVENTS)
    return Setup(THREADS, fileset(data=files.small()), (step,), chunksize=EVENTS // 3)


def uneven(place: Place, files: Files) -> Setup:
    """The chunks of the last dataset take eight times as long as those of the first."""
    step = partial(rest, each_s=0.25 / EVENTS)
    slow = [files.small(name=f"slow{n}") for n in range(3)]
    steps = (
        step,
        *(partial(rest_in_file, name=p.name, each_s=2.25 / EVENTS) for p in slow),
    )
    return Setup(place, fileset(wjets=files.copies(12), ttbar=slow), steps)


@scenario("uneven_datasets")
def uneven_dask(files: Files) -> Setup:
    return uneven(DASK, files)


@scenario("uneven_datasets")
def uneven_processes(files: Files) -> Setup:
    return uneven(PROCESSES, files)


# ---- reading -------------------------------------------------------------------------


def serve(folder: Path, handler: type[Handler] = Handler) -> SlowServer:
    """It serves until this process ends."""
    server = SlowServer(folder)
    server.RequestHandlerClass = handler
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


def urls(server: SlowServer, paths: list[Path]) -> Fileset:
    """Each file is a dataset: merging files would help against slow storage, too."""
    return {
        path.stem: {"files": {f"{server.endpoint}/{path.name}": TREE}} for path in paths
    }


def slow_storage(place: Place, files: Files) -> Setup:
    """Half a second per request, but not while workers warm up."""
    paths = files.copies(3)
    server = serve(paths[0].parent)

    @contextlib.contextmanager
    def slow(opened: Opened) -> Iterator[None]:
        server.delay_s = 0.5
        yield
        server.delay_s = 0.0

    steps = (
        partial(read, names=("value", "weight")),
        partial(rest, each_s=1e-5),
    )
    names = {"folder": str(paths[0].parent)}
    return Setup(place, urls(server, paths), steps, ahead=(slow,), names=names)


@scenario("waiting_for_data")
def slow_storage_iterative(files: Files) -> Setup:
    return slow_storage(ITERATIVE, files)


@scenario("waiting_for_data")
def slow_storage_dask(files: Files) -> Setup:
    return slow_storage(DASK, files)


def slow_unpacking(place: Place, files: Files) -> Setup:
    columns = tuple(f"x{n}" for n in range(4))
    steps = (partial(read, names=columns),)
    return Setup(place, fileset(data=files.packed("LZMA")), steps, chunksize=312_500)


@scenario("decompression")
def slow_unpacking_iterative(files: Files) -> Setup:
    return slow_unpacking(ITERATIVE, files)


@scenario("decompression")
def slow_unpacking_processes(files: Files) -> Setup:
    return slow_unpacking(PROCESSES, files)


@scenario(
    "unused_columns",
    allowed={"decompression": "unpacking columns that are not used is unpacking, too"},
)
def unused_columns(files: Files) -> Setup:
    """Twenty columns are unpacked for the sake of one."""
    path = files.packed("LZMA", columns=20, events=500_000)
    steps = (partial(read, names=("x0",)), partial(rest, each_s=3 / 500_000))
    content = fileset(data=path)["data"] | {"preload": [f"x{n}" for n in range(20)]}
    return Setup(ITERATIVE, {"data": content}, steps, chunksize=62_500)


class FromTape(Handler):
    """The first request for a file takes longer."""

    staged: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        if self.path not in self.staged:
            self.staged.add(self.path)
            time.sleep(1.0)
        super().do_GET()


def slow_preprocessing(place: Place, files: Files) -> Setup:
    """Files on tape: whoever opens them first waits."""
    paths = files.copies(6)
    server = serve(paths[0].parent, FromTape)

    @contextlib.contextmanager
    def slow(opened: Opened) -> Iterator[None]:
        FromTape.staged.clear()
        yield

    steps = (partial(rest, each_s=0.5 / EVENTS),)
    return Setup(place, urls(server, paths), steps, ahead=(slow,), is_warm=False)


@scenario("preprocessing", is_quick=True)
def slow_preprocessing_iterative(files: Files) -> Setup:
    return slow_preprocessing(ITERATIVE, files)


@scenario("preprocessing")
def slow_preprocessing_threads(files: Files) -> Setup:
    return slow_preprocessing(THREADS, files)


# ---- cores, the GIL, memory of one process -------------------------------------------


def python_loops(place: Place, files: Files) -> Setup:
    step = partial(loop, each_s=0.5 / EVENTS * 4)
    return Setup(place, fileset(data=files.copies(6)), (step,), chunksize=EVENTS // 4)


@scenario("gil")
def python_loops_threads(files: Files) -> Setup:
    return python_loops(THREADS, files)


@scenario("gil")
def python_loops_dask(files: Files) -> Setup:
    return python_loops(DASK_WIDE, files)


@scenario("overloaded")
def too_many_processes(files: Files) -> Setup:
    """Three processes per core."""
    step = partial(compute, each_s=0.2 / EVENTS * 4)
    place = Place("processes", 3 * CORES)
    return Setup(place, fileset(data=files.copies(9)), (step,), chunksize=EVENTS // 4)


HOG = "import os; os.sched_setaffinity(0, {%d})\nprint(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def one_core(hogs: int, opened: Opened) -> Iterator[None]:
    """This thread on one core, together with others that never rest."""
    allowed = os.sched_getaffinity(0)
    core = min(allowed)
    running = [
        subprocess.Popen([sys.executable, "-c", HOG % core], stdout=subprocess.PIPE)
        for _ in range(hogs)
    ]
    try:
        for hog in running:
            assert hog.stdout
            hog.stdout.readline()
        os.sched_setaffinity(0, {core})
        yield
    finally:
        os.sched_setaffinity(0, allowed)
        for hog in running:
            hog.kill()
            hog.communicate()


@scenario("overloaded")
def others_on_the_core(files: Files) -> Setup:
    step = partial(compute, each_s=0.2 / EVENTS * 4)
    hooks = (partial(one_core, 3),)
    paths = fileset(data=files.copies(2))
    return Setup(ITERATIVE, paths, (step,), chunksize=EVENTS // 4, ahead=hooks)


@scenario("garbage_collection")
def much_garbage(files: Files) -> Setup:
    step = partial(collect_garbage, objects=100_000, times=3)
    return Setup(
        ITERATIVE, fileset(data=files.copies(4)), (step,), chunksize=EVENTS // 4
    )


@contextlib.contextmanager
def forget(opened: Opened) -> Iterator[None]:
    """What a leak in this process has kept."""
    yield
    KEPT.clear()


def leak(place: Place, files: Files) -> Setup:
    steps = (partial(keep, size_mb=30), partial(rest, each_s=0.2 / EVENTS * 4))
    paths = fileset(data=files.copies(4))
    size = EVENTS // 4
    return Setup(place, paths, steps, chunksize=size, ahead=(forget,), is_fresh=True)


@scenario("memory_leak")
def leak_iterative(files: Files) -> Setup:
    return leak(ITERATIVE, files)


@scenario("memory_leak")
def leak_dask(files: Files) -> Setup:
    return leak(DASK, files)


CALM = tuple(
    (f"distributed.worker.memory.{name}", False)
    for name in ("target", "spill", "pause", "terminate")
)


@scenario("memory_pressure")
def large_chunks_dask(files: Files) -> Setup:
    """Chunks that fill nine tenths of what their worker may have."""
    place = replace(DASK, options=(("memory_limit", "1GB"),), config=CALM)
    steps = (partial(fill_up_to, size_mb=900, seconds=1.0),)
    paths = fileset(data=files.copies(6))
    return Setup(place, paths, steps, chunksize=EVENTS // 2)


# ---- failures ------------------------------------------------------------------------


def raising(place: Place, files: Files) -> Setup:
    bad = files.small(name="bad")
    steps = (partial(rest, each_s=0.5 / EVENTS), partial(fail_in, name=bad.name))
    return Setup(
        place,
        fileset(data=[*files.copies(8), bad]),
        steps,
        executor={"retries": 0},
        fails="no such tape",
    )


@scenario("failures")
def raising_iterative(files: Files) -> Setup:
    return raising(ITERATIVE, files)


@scenario("failures")
def raising_processes(files: Files) -> Setup:
    return raising(PROCESSES, files)


@scenario("failures")
def raising_dask(files: Files) -> Setup:
    return raising(DASK, files)
