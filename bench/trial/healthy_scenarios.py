# SPDX-License-Identifier: BSD-3-Clause
"""Runs in which nothing should be changed: every executor, every kind of file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coffea.nanoevents import NanoAODSchema

from trial.analyses import Step, compute, read, rest, select, select_jets
from trial.files import EVENTS, Files, fileset
from trial.places import (
    DASK,
    DASK_THREADS,
    DASK_WIDE,
    ITERATIVE,
    PROCESSES,
    THREADS,
    Place,
)
from trial.scenarios import HEALTHY, SCENARIOS, Scenario
from trial.setups import Setup

CHUNKS = 10  # per thread
CHUNK_S = 0.5

KINDS: dict[str, Callable[[float], Step]] = {
    "select": lambda each_s: partial(select, name="value", each_s=each_s),
    "compute": lambda each_s: partial(compute, each_s=each_s),
    "rest": lambda each_s: partial(rest, each_s=each_s),
}


def healthy(place: Place, kind: str, work: str, files: Files) -> Setup:
    """Chunks of half a second, ten per thread."""
    threads = place.workers * place.threads
    size = EVENTS // 5
    step = KINDS[work](CHUNK_S / size)
    paths = files.copies(CHUNKS // 5 * threads, kind)
    options = {"format": "parquet"} if kind == "parquet" else {}
    return Setup(
        place=place,
        fileset=fileset(data=paths),
        steps=(step, partial(read, names=("weight",))),
        chunksize=size,
        runner=options,
    )


# Work that needs a core and the GIL only where it has both to itself.
HEALTHY_RUNS = (
    ("iterative", ITERATIVE, "select rest compute"),
    ("processes", PROCESSES, "compute select rest"),
    ("threads", THREADS, "rest compute rest"),
    ("dask_processes", DASK, "compute rest select"),
    ("dask_one_process", DASK_WIDE, "rest compute rest"),
    ("dask_threads", DASK_THREADS, "compute rest rest"),
)
QUICK = {"healthy_iterative_ttree", "healthy_dask_processes_rntuple"}


def healthy_nano(place: Place, files: Files) -> Setup:
    """A thousand branches; each file is a long chunk."""
    step = partial(select_jets, each_s=11 / 3000)
    options = {"schema": NanoAODSchema}
    return Setup(place, files.nano(), (step,), chunksize=3000, runner=options)


def quick_baskets(files: Files) -> Setup:
    """Each chunk unpacks the only basket of every column, which takes no time."""
    path = files.packed("ZSTD", events=200_000, parts=1)
    columns = tuple(f"x{n}" for n in range(4))
    steps = (partial(read, names=columns), partial(rest, each_s=CHUNK_S / 20_000))
    return Setup(fileset=fileset(data=path), steps=steps, chunksize=20_000)


SCENARIOS.append(Scenario("healthy_quick_baskets", HEALTHY, quick_baskets))

for name, place, works in HEALTHY_RUNS:
    for kind, work in zip(("ttree", "rntuple", "parquet"), works.split(), strict=True):
        full = f"healthy_{name}_{kind}"
        SCENARIOS.append(
            Scenario(
                full,
                HEALTHY,
                partial(healthy, place, kind, work),
                is_quick=full in QUICK,
            )
        )

for name, place in (
    ("iterative", ITERATIVE),
    ("processes", PROCESSES),
    ("threads", THREADS),
    ("dask_processes", DASK),
    ("dask_threads", DASK_THREADS),
):
    SCENARIOS.append(
        Scenario(f"healthy_nano_{name}", HEALTHY, partial(healthy_nano, place))
    )
