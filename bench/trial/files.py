# SPDX-License-Identifier: BSD-3-Clause
"""The input files of the trial, written once into build/advice."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "advice"
CONTENT = 2  # raise it when the content changes
TREE = "Events"
EVENTS = 6000  # of a small file
KINDS = {"ttree": "root", "rntuple": "ntuple.root", "parquet": "parquet"}

Columns = Mapping[str, np.ndarray]
Fileset = dict[str, Any]


def fileset(**datasets: list[Path] | Path) -> Fileset:
    """The files of each dataset, as coffea takes them."""
    lists = {
        name: paths if isinstance(paths, list) else [paths]
        for name, paths in datasets.items()
    }
    return {
        name: {"files": {str(path): TREE for path in paths}}
        for name, paths in lists.items()
    }


def write(path: Path, columns: Columns, codec: str = "ZSTD", parts: int = 1) -> None:
    """A file of the kind that its name says, with so many clusters."""
    if path.name.endswith(".parquet"):
        size = -(-len(next(iter(columns.values()))) // parts)
        ak.to_parquet(
            ak.Array(dict(columns)), path, extensionarray=False, row_group_size=size
        )
        return
    compression = getattr(uproot, codec)(1) if codec else None
    types = {name: values.dtype for name, values in columns.items()}
    with uproot.recreate(path, compression=compression) as root:
        is_ntuple = path.name.endswith(".ntuple.root")
        tree = (root.mkrntuple if is_ntuple else root.mktree)(TREE, types)
        for number in range(parts):
            part = {
                name: np.array_split(c, parts)[number] for name, c in columns.items()
            }
            tree.extend(part)


def merge(paths: list[str], target: Path, codec: str) -> None:
    """What hadd does: the events of some files in one, compressed anew."""
    parts = []
    for path in paths:
        with uproot.open({path: TREE}) as tree:
            parts.append(tree.arrays(library="np"))
    columns = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    write(target, columns, codec, parts=4)


class Files:
    """Files by name; each is written when it is first asked for."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder / str(CONTENT)
        self.folder.mkdir(parents=True, exist_ok=True)

    def once(self, name: str, make: Callable[[Path], None]) -> Path:
        path = self.folder / name
        if not path.exists():
            part = path.with_name(f"part-{os.getpid()}-{name}")
            make(part)
            part.rename(path)
        return path

    def small(self, kind: str = "ttree", name: str = "small") -> Path:
        """A handful of columns."""

        def make(path: Path) -> None:
            rng = np.random.default_rng(1)
            columns = {
                "event": np.arange(EVENTS),
                "value": rng.random(EVENTS),
                "weight": rng.random(EVENTS, np.float32),
            }
            write(path, columns, parts=3)

        return self.once(f"{name}.{KINDS[kind]}", make)

    def copies(self, count: int, kind: str = "ttree") -> list[Path]:
        return [self.small(kind, f"copy{number}") for number in range(count)]

    def wide(
        self,
        name: str = "wide",
        events: int = 3000,
        columns: int = 150,
    ) -> Path:
        """Many columns: a chunk of it has a cost that is independent of its size."""

        def make(path: Path) -> None:
            rng = np.random.default_rng(2)
            values = {f"x{n:03}": rng.random(events) for n in range(columns)}
            write(path, values)

        return self.once(f"{name}.root", make)

    def wide_parts(self, count: int) -> list[Path]:
        return [self.wide(f"wide{n}of{count}", 40) for n in range(count)]

    def packed(
        self, codec: str, columns: int = 4, events: int = 2_500_000, parts: int = 8
    ) -> Path:
        """Numbers that take long to unpack, in so many baskets per column."""

        def make(path: Path) -> None:
            rng = np.random.default_rng(3)
            values = {
                f"x{n}": rng.integers(0, 2**20, events, np.int32)
                for n in range(columns)
            }
            write(path, values, codec, parts)

        return self.once(f"packed{columns}x{parts}-{codec.lower()}.root", make)

    def nano(self) -> Fileset:
        """NanoAOD-like files with a thousand branches, of two datasets."""
        sys.path.append(str(ROOT / "examples"))
        import make_samples

        folder = self.folder / "nano"
        make_samples.write_samples(folder, "physics", events=3000, files=1)
        known: Fileset = make_samples.fileset(folder, "physics")
        return {name: known[name] for name in ("ttbar", "wjets")}

    def scratch(self, name: str) -> Path:
        """A folder that is empty at first."""
        folder = self.folder / f"scratch-{os.getpid()}" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def close(self) -> None:
        shutil.rmtree(self.folder / f"scratch-{os.getpid()}", ignore_errors=True)
