# SPDX-License-Identifier: BSD-3-Clause
"""Advice as a change of a setup: only what is printed is used."""

from __future__ import annotations

import ast
import concurrent.futures
import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import coffea.processor
import loky

from trial.files import TREE, Files, Fileset, merge
from trial.places import Opened, Place
from trial.setups import Result, Setup

Change = Callable[[Setup, "re.Match[str]", Result, Files], Setup]


def number(text: str) -> int:
    return int(text.replace("_", ""))


# ---- changes -------------------------------------------------------------------------


def chunksize(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    return replace(setup, chunksize=number(found[1]))


def preload(setup: Setup, found: re.Match[str], ill: Result, files: Files) -> Setup:
    names = ast.literal_eval(found[1])
    if Ellipsis in names or "..." in found[1]:  # it says where the others are
        names = ill.metrics["preload"]
    changed = {
        dataset: files | {"preload": names} for dataset, files in setup.fileset.items()
    }
    return replace(setup, fileset=changed)


def items(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    return replace(setup, code=found[1])


def pool(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    """An executor with the arguments that are printed."""
    names = {
        "concurrent": concurrent,
        "loky": loky,
        "FuturesExecutor": coffea.processor.FuturesExecutor,
    }
    loky.get_reusable_executor().shutdown()  # as in a script that has just begun
    executor = eval(found[0], names)
    is_given = re.search(r"\bworkers=", found[1])
    workers = executor.workers if is_given else setup.place.workers
    return replace(setup, place=Place("processes", workers, pool=executor.pool))


def threads(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    place = Place("dask", number(found[1]), number(found[2]))
    return replace(setup, place=place)


def first(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    """A dataset, or a file; a long path has lost its middle."""
    begin, _, end = found[1].partition("...")

    def comes_first(name: str) -> bool:
        return name == found[1] or (
            bool(end) and name.startswith(begin) and name.endswith(end)
        )

    changed: Fileset = {}
    for dataset, content in setup.fileset.items():
        paths = sorted(content["files"], key=lambda path: not comes_first(path))
        ordered = content | {"files": dict.fromkeys(paths, TREE)}
        if comes_first(dataset) or comes_first(paths[0]):
            changed = {dataset: ordered} | changed
        else:
            changed[dataset] = ordered
    return replace(setup, fileset=changed)


def wait_for_workers(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    """What the block did ahead of the Runner, and waiting for it, before the block."""

    @contextlib.contextmanager
    def wait(opened: Opened) -> Iterator[None]:
        opened.client.wait_for_workers(number(found[1]))
        yield

    return replace(setup, ahead=(*setup.ahead, *setup.inside, wait), inside=())


def before_the_block(setup: Setup, *_: Any) -> Setup:
    return replace(setup, ahead=(*setup.ahead, *setup.inside), inside=())


def alone(setup: Setup, *_: Any) -> Setup:
    """Without those who use the cluster, too."""
    return replace(setup, ahead=())


def closer(setup: Setup, *_: Any) -> Setup:
    """The same files without the server between."""
    changed = {
        name: content
        | {"files": {local_path(setup, path): TREE for path in content["files"]}}
        for name, content in setup.fileset.items()
    }
    return replace(setup, fileset=changed)


def local_path(setup: Setup, url: str) -> str:
    return str(Path(setup.names["folder"], url.rpartition("/")[2]))


def rewritten(setup: Setup, found: re.Match[str], ill: Result, files: Files) -> Setup:
    """Each file with another codec."""
    changed: Fileset = {}
    for name, content in setup.fileset.items():
        paths = [
            files.once(
                f"{Path(path).stem}-{found[1].lower()}.root", _copy(path, found[1])
            )
            for path in content["files"]
        ]
        changed[name] = content | {"files": {str(path): TREE for path in paths}}
    return replace(setup, fileset=changed)


def _copy(path: str, codec: str) -> Callable[[Path], None]:
    return lambda target: merge([path], target, codec)


def merged(setup: Setup, found: re.Match[str], ill: Result, files: Files) -> Setup:
    """One file per dataset, in place of many."""
    changed: Fileset = {}
    for name, content in setup.fileset.items():
        paths = list(content["files"])
        path = files.once(
            f"merged-{Path(paths[0]).stem}-{len(paths)}.root",
            lambda target, paths=paths: merge(paths, target, "ZSTD"),  # type: ignore[misc]
        )
        changed[name] = content | {"files": {str(path): TREE}}
    return replace(setup, fileset=changed, chunksize=number(found[1]))


def together(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    return replace(setup, names=setup.names | {"together": number(found[1])})


def memory_limit(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    limit = ("memory_limit", found[1])
    kept = tuple(option for option in setup.place.options if option[0] != limit[0])
    return replace(setup, place=replace(setup.place, options=(*kept, limit)))


def saturation(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    kept = tuple(row for row in setup.place.config if row[0] != found[1])
    config = (*kept, (found[1], float(found[2])))
    return replace(setup, place=replace(setup.place, config=config))


def at_start(setup: Setup, found: re.Match[str], *_: Any) -> Setup:
    options = (*setup.place.options, ("preload", found[1]))
    return replace(setup, place=replace(setup.place, options=options))


# ---- which of them -------------------------------------------------------------------

CHANGES: tuple[tuple[str, Change], ...] = (
    (r"merge the files of each dataset.*; chunksize=([\d_]+)", merged),
    (r"keep the items.*: (items = .*)", items),
    (r"run closer to the data", closer),
    (r"use a cluster of your own", alone),
    (r"LocalCluster\(preload=\'([\w.]+)\'\)", at_start),
    (r"(distributed\.scheduler\.worker-saturation)=(\d+)", saturation),
    (r"preload=(\[[^]]*\])", preload),
    (r"put (\S+) first in the fileset", first),
    (r"one thread per worker: (\d+) workers x (\d+) thread", threads),
    (r"FuturesExecutor\(((?:[^()]|\([^()]*\))*)\)", pool),
    (r"memory_limit='(\w+)'", memory_limit),
    (r"chunksize=([\d_]+)", chunksize),
    (r"client\.wait_for_workers\((\d+)\)", wait_for_workers),
    (r"do that before the block", before_the_block),
    (r"rewrite the files with (\w+)", rewritten),
    (r"more work in each task: ([\d_]+) of these calls", together),
)


def apply(advice: str, setup: Setup, ill: Result, files: Files) -> Setup | None:
    """The setup as the advice has it; None: no program can follow it."""
    for pattern, change in CHANGES:
        if found := re.search(pattern, advice):
            return change(setup, found, ill, files)
    return None
