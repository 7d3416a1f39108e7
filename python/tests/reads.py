# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of reading share: small files of every kind, processors that say what
they read, and runs of which coffea's own count of bytes is kept for each chunk.

Nothing here asks us: files are written and described with uproot and pyarrow alone.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
from coffea import processor
from coffea.nanoevents import NanoAODSchema, PHYSLITESchema

import roastcoffea
from collector_helpers import iterative

EVENTS = 1200
BASKETS = 4  # of each branch
CHUNKS = 3  # of a file; their borders are not those of baskets
CODECS = {
    "zlib": uproot.ZLIB(1),
    "lzma": uproot.LZMA(1),
    "lz4": uproot.LZ4(1),
    "zstd": uproot.ZSTD(1),
    "none": None,
}
KINDS = [*CODECS, "rntuple"]  # ROOT files
NAMES = ("Hit_value", "Hit_time", "Track_length", "event", "Beam_energy")


# ---- files ------------------------------------------------------------------------


def columns(rng: np.random.Generator, events: int) -> dict[str, Any]:
    """Some of what NanoAOD has, in numbers that a codec makes smaller."""
    hits, tracks = rng.poisson(4, events), rng.poisson(1, events)

    def jagged(counts: Any) -> Any:
        values = np.round(rng.exponential(30, counts.sum())).astype(np.float32)
        return ak.unflatten(values, counts)

    return {
        "nHit": hits.astype(np.int32),
        "nTrack": tracks.astype(np.int32),
        "Hit_value": jagged(hits),
        "Hit_time": jagged(hits),
        "Track_length": jagged(tracks),
        "run": np.ones(events, np.uint32),
        "luminosityBlock": np.ones(events, np.uint32),
        "event": np.arange(events, dtype=np.uint64),
        "Beam_energy": np.round(rng.exponential(40, events)).astype(np.float32),
    }


def write_tree(path: Path, codec: str = "zlib", seed: int = 1) -> Path:
    """A TTree whose jagged branches have counters, in several baskets."""
    rng = np.random.default_rng(seed)
    types = {
        "nHit": "int32",
        "nTrack": "int32",
        "event": "uint64",
        "Beam_energy": "float32",
    }
    types |= dict.fromkeys(("run", "luminosityBlock"), "uint32")
    types |= dict.fromkeys(("Hit_value", "Hit_time", "Track_length"), "var * float32")
    with uproot.recreate(path, compression=CODECS[codec]) as root:
        tree = root.mktree(
            "Events", types, counter_name=lambda name: f"n{name.partition('_')[0]}"
        )
        for _ in range(BASKETS):
            tree.extend(columns(rng, EVENTS // BASKETS))
    return path


def write_ntuple(path: Path, codec: str = "zstd") -> Path:
    """The same as an RNTuple, in several clusters."""
    rng = np.random.default_rng(1)
    with uproot.recreate(path, compression=CODECS[codec]) as root:
        first = columns(rng, EVENTS // BASKETS)
        ntuple = root.mkrntuple("Events", first)
        for _ in range(BASKETS - 1):
            ntuple.extend(columns(rng, EVENTS // BASKETS))
    return path


def write_parquet(path: Path, codec: str = "zstd") -> Path:
    """The same as a parquet file, in several row groups."""
    ak.to_parquet(
        ak.Array(columns(np.random.default_rng(1), EVENTS)),
        path,
        compression=codec,
        list_to32=True,
        extensionarray=False,
        row_group_size=EVENTS // BASKETS,
    )
    return path


# ---- analyses ---------------------------------------------------------------------


class Reader(processor.ProcessorABC):
    """Sums the named branches; {dataset: names} for those that are read differently."""

    def __init__(self, names: Iterable[str], **others: Iterable[str]) -> None:
        self.names = tuple(names)
        self.others = others

    def process(self, events: Any) -> Any:
        names = self.others.get(events.metadata["dataset"], self.names)
        sums = {name: float(ak.sum(column_of(events, name))) for name in names}
        return sums | {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return None


def column_of(events: Any, name: str) -> Any:
    """A branch by its name in the file, through whichever schema."""
    if name in events.fields:
        return events[name]
    collection, _, field = name.partition("_")
    return events[collection][field]


# ---- runs -------------------------------------------------------------------------


class Run:
    """A monitored run, and what coffea said of each chunk: {(file, start): metrics}."""

    def __init__(self, files: Any, analysis: Any, **options: Any) -> None:
        self.counted: dict[tuple[str, int], dict[str, Any]] = {}
        trace = options.pop("trace", None)
        options = {"schema": NanoAODSchema, "chunksize": EVENTS // CHUNKS} | options
        options.setdefault("executor", iterative(retries=0))
        runner = processor.Runner(savemetrics=True, **options)
        runner._work_function = self.counting(runner._work_function)
        with warnings.catch_warnings(), roastcoffea.monitor() as self.collector:
            warnings.simplefilter("ignore")  # schemas have much to say of real files
            self.out, self.report = runner(files, analysis, trace=trace)
        self.metrics = self.collector.get_metrics()
        self.chunks = sorted(
            self.collector.chunk_metrics, key=lambda c: (c["file"], c["entry_start"])
        )

    def counting(self, work: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            result = work(*args, **kwargs)
            item = args[-1]
            self.counted[item.filename, item.entrystart] = result["metrics"]
            return result

        return counted

    def truth_of(self, chunk: Any) -> dict[str, Any]:
        """Coffea's metrics of a chunk."""
        return self.counted[chunk["file"], chunk["entry_start"]]


def bytes_of(chunk: Any) -> dict[str, int]:
    """{branch: bytes} of a chunk."""
    return {name: row["bytes"] for name, row in chunk.get("branches", {}).items()}


def fileset(*paths: Path, **others: Any) -> dict[str, Any]:
    """Files of the dataset "all"; others are what belongs to it, as preload does."""
    files = {str(path): "Events" for path in paths}
    return {"all": {"files": files, **others}}


def facts_of(run: Run, path: Path) -> dict[str, Any]:
    """What a run says of a file."""
    facts: dict[str, Any] = run.metrics["file_metadata"][str(path)]
    return facts


def described(path: Path, tree: str = "Events") -> dict[str, tuple[int, int]]:
    """{branch: (bytes, uncompressed bytes)} of all branches of a tree, by uproot."""
    with uproot.open(path) as root:
        return {
            name: (branch.compressed_bytes, branch.uncompressed_bytes)
            for name, branch in root[tree].iteritems(full_paths=True)
        }


# ---- truths -----------------------------------------------------------------------


def check_bytes(run: Run) -> None:
    """All that is known of bytes against coffea's count, per chunk and in the run."""
    assert len(run.chunks) == len(run.counted) > 0
    for chunk in run.chunks:
        expected = run.truth_of(chunk)["bytesread"]
        read = sum(bytes_of(chunk).values())
        assert chunk["column_bytes"] == read
        assert chunk["open_bytes"] + chunk["metadata_bytes"] + read == expected
        assert chunk["other_bytes"] == 0
        assert sum(end["bytes"] for end in chunk["endpoints"].values()) == expected
    metrics = run.metrics
    read = sum(row["bytes"] for row in metrics["branch_costs"].values())
    assert read == metrics["column_bytes"]
    reported = metrics["open_bytes"] + metrics["metadata_bytes"] + read
    assert reported == run.report["bytesread"] == metrics["total_bytes_read"]
    ends = metrics["per_endpoint"].values()
    assert sum(end["bytes"] for end in ends) == run.report["bytesread"]


def check_access(run: Run) -> None:
    """Which branches were read, and what for, against coffea's log."""
    for chunk in run.chunks:
        columns = run.truth_of(chunk)["columns"]
        data = {c.removesuffix("-data") for c in columns if c.endswith("-data")}
        others = {c.rpartition("-")[0] for c in columns} - data
        assert set(chunk["accessed_branches"]) == data
        assert set(chunk["offset_branches"]) == others
        assert set(chunk["branches"]) == data | others


def write_kinds(folder: Path) -> Path:
    """A file of each kind, named after it; other.root has other events."""
    for codec in CODECS:
        write_tree(folder / f"{codec}.root", codec)
    write_tree(folder / "other.root", seed=2)
    write_ntuple(folder / "rntuple.root")
    write_parquet(folder / "events.parquet")
    return folder


def kind_folder(tmp_path_factory: Any) -> Path:
    """For a fixture: a folder with a file of each kind."""
    return write_kinds(tmp_path_factory.mktemp("kinds"))


def lazy_runs(folder: Path) -> dict[str, Run]:
    """For a fixture: every column of each kind of file, read when it is looked at."""
    return {
        kind: Run(fileset(folder / f"{kind}.root"), Reader(NAMES)) for kind in KINDS
    }


# ---- real files -------------------------------------------------------------------


class Whole(processor.ProcessorABC):
    """Reads all that some collections have."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def process(self, events: Any) -> Any:
        read = [ak.materialize(events[name]) for name in self.names]
        return {"bytes": sum(array.layout.nbytes for array in read)}

    def postprocess(self, accumulator: Any) -> Any:
        return None


SAMPLES = {  # file: its tree, how to look at it, and how many chunks of it
    "nano_tt_v12.root": ("Events", NanoAODSchema, ("Jet", "Muon", "MET", "HLT"), 2),
    "PHYSLITE_example.root": ("CollectionTree", PHYSLITESchema, ("Jets", "Muons"), 1),
    "nano_dimuon_rntuple.root": ("Events", NanoAODSchema, ("Jet", "Muon", "MET"), 1),
}


@functools.cache  # building events of such files takes seconds
def sample_run(folder: Path, name: str) -> Run:
    """A run over the beginning of a real file."""
    tree, schema, names, chunks = SAMPLES[name]
    files = {"all": {"files": {str(folder / name): tree}}}
    return Run(files, Whole(*names), schema=schema, chunksize=50, maxchunks=chunks)
