# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of branches are the same however they are read: in bulk, through caches, from
several files, beside files that are none of the run's."""

from __future__ import annotations

import copy
import shutil

import awkward as ak
import pytest
import uproot
from coffea.nanoevents import BaseSchema, NanoEventsFactory
from coffea.nanoevents.trace import trace

from reads import (
    CHUNKS,
    NAMES,
    Reader,
    Run,
    bytes_of,
    check_access,
    check_bytes,
    fileset,
    kind_folder,
    lazy_runs,
)

folder = pytest.fixture(scope="module", name="folder")(kind_folder)
runs = pytest.fixture(scope="module", name="runs")(lazy_runs)


# ---- read in bulk -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["zstd", "rntuple"])
@pytest.mark.parametrize("how", ["preload", "trace"])
def test_preloading_gives_the_same_bytes_as_reading_lazily(runs, folder, kind, how):
    path = folder / f"{kind}.root"
    lazy = runs[kind]
    if how == "preload":
        files = fileset(path, preload=lazy.metrics["preload"])
        run = Run(files, Reader(NAMES))
    else:
        run = Run(fileset(path), Reader(NAMES), trace=trace)
    check_bytes(run)
    for chunk, other in zip(run.chunks, lazy.chunks, strict=True):
        assert chunk["branches"].keys() == other["branches"].keys()
        for name, row in chunk["branches"].items():
            expected = other["branches"][name]
            for key in ("bytes", "uncompressed_bytes", "reads"):
                assert row[key] == expected[key], (name, key)
        assert chunk["accessed_branches"] == other["accessed_branches"]
        assert chunk["offset_branches"] == other["offset_branches"]
    costs = run.metrics["branch_costs"]
    assert all(cost["preloaded"] for cost in costs.values())
    assert run.metrics["preload"] == lazy.metrics["preload"]
    shares = [r.metrics["file_read_metrics"][str(path)] for r in (run, lazy)]
    assert shares[0].get("bytes_read") == shares[1].get("bytes_read")
    assert run.out == lazy.out


def test_branches_that_were_preloaded_for_nothing_are_flagged(folder):
    names = ["Hit_value", "nHit", "Track_length", "event"]
    files = fileset(folder / "zlib.root", preload=names)
    run = Run(files, Reader(["Hit_value"]))
    check_bytes(run)
    costs = run.metrics["branch_costs"]
    unused = {
        name
        for name, cost in costs.items()
        if cost["preloaded"] and not cost["accessed"] and not cost["offsets_only"]
    }
    assert unused == {"Track_length", "event"}
    assert all(costs[name]["bytes"] > 0 for name in unused)
    assert run.metrics["preload"] == ["Hit_value", "nHit"]
    assert run.chunks[0]["accessed_branches"] == ["Hit_value"]


# ---- several files ----------------------------------------------------------------


def test_files_with_different_access_are_distinguished(folder):
    one, two = folder / "zlib.root", folder / "other.root"
    files = fileset(one) | {"two": fileset(two)["all"]}
    run = Run(files, Reader(["Hit_value", "event"], two=["Track_length"]))
    check_bytes(run)
    check_access(run)
    first, second = (run.metrics["file_read_metrics"][str(path)] for path in (one, two))
    assert first["accessed_branches"] == ["Hit_value", "event"]
    assert first["offset_branches"] == ["nHit"]
    assert second["accessed_branches"] == ["Track_length"]
    assert second["offset_branches"] == ["nTrack"]
    for path, facts in ((one, first), (two, second)):
        chunks = [chunk for chunk in run.chunks if chunk["file"] == str(path)]
        assert len(chunks) == CHUNKS
        assert facts["bytes_requested"] == sum(c["column_bytes"] for c in chunks)


class Foreign(Reader):
    """Looks into another file, in every way there is, besides its own."""

    def __init__(self, names, other):
        super().__init__(names)
        self.other = str(other)

    def process(self, events):
        with uproot.open(self.other) as root:
            tree = root["Events"]
            read = [tree["Hit_time"].array(), *tree.arrays(["run"], how=tuple)]
            inside = NanoEventsFactory.from_root(
                root, treepath="Events", schemaclass=BaseSchema, mode="virtual"
            ).events()
            read += [inside.luminosityBlock, inside.Track_length]
            extra = sum(float(ak.sum(array)) for array in read)
            requested = root.file.source.num_requested_bytes
        return super().process(events) | {"extra": extra, "requested": requested}


@pytest.mark.parametrize("other", ["other.root", "zlib.root", "rntuple.root"])
def test_files_that_process_opens_itself_are_not_the_chunks(runs, folder, other):
    run = Run(fileset(folder / "zlib.root"), Foreign(["Hit_value"], folder / other))
    for chunk, alone in zip(run.chunks, runs["zlib"].chunks, strict=True):
        read = bytes_of(chunk)
        assert read == {name: bytes_of(alone)[name] for name in ("Hit_value", "nHit")}
        reported = chunk["open_bytes"] + chunk["metadata_bytes"] + sum(read.values())
        assert reported == run.truth_of(chunk)["bytesread"]
        assert chunk["other_bytes"] == 0
    check_access(run)
    assert run.metrics["file_metadata"].keys() == {str(folder / "zlib.root")}
    assert run.metrics["foreign_bytes"] == run.out["requested"]
    (endpoint,) = run.metrics["per_endpoint"].values()
    assert endpoint["bytes"] == run.report["bytesread"] + run.out["requested"]


class ForeignParquet(Reader):
    """Reads a column of another parquet file that its own has as well."""

    def __init__(self, names, other):
        super().__init__(names)
        self.other = str(other)

    def process(self, events):
        inside = NanoEventsFactory.from_parquet(self.other, schemaclass=BaseSchema)
        extra = {"extra": float(ak.sum(inside.events().run))}
        return super().process(events) | extra


def test_parquet_files_that_process_opens_itself_are_not_the_chunks(folder):
    path, options = folder / "events.parquet", {"format": "parquet"}
    other = shutil.copy(path, folder / "copy.parquet")
    alone = Run(fileset(path), Reader(["event"]), **options)
    run = Run(fileset(path), ForeignParquet(["event"], other), **options)
    for chunk, expected in zip(run.chunks, alone.chunks, strict=True):
        assert bytes_of(chunk) == bytes_of(expected)
        assert chunk["column_bytes"] == expected["column_bytes"]
    check_access(run)
    assert run.metrics["file_metadata"].keys() == {str(path)}


# ---- caches -----------------------------------------------------------------------


class Cache(dict[str, object]):
    """A cache of buffers that counts what it had."""

    hits = 0

    def get(self, key, default=None):
        self.hits += key in self
        return super().get(key, default)


def test_buffers_that_a_cache_had_are_counted_apart(runs, folder):
    cache = Cache()
    files, analysis = fileset(folder / "zlib.root"), Reader(NAMES)
    first = Run(files, analysis, cachestrategy=lambda: cache)
    check_bytes(first)
    assert first.metrics["column_bytes"] > 0
    assert first.metrics["cached_reads"] == cache.hits  # awkward asks more than once
    cache.hits = 0
    again = Run(files, analysis, cachestrategy=lambda: cache)
    check_bytes(again)
    assert again.metrics["column_bytes"] == 0
    assert again.metrics["cached_reads"] == cache.hits > 0
    assert not any(chunk["accessed_branches"] for chunk in again.chunks)
    assert again.out == first.out == runs["zlib"].out


class Twice(Reader):
    """Reads everything, and once more into new arrays."""

    def process(self, events):
        once = super().process(events)
        again = copy.copy(events.attrs["@events_factory"]).events()
        assert super().process(again) == once
        return once


@pytest.mark.parametrize("kind", ["zlib", "rntuple"])
def test_what_is_read_twice_is_requested_once(runs, folder, kind):
    run = Run(fileset(folder / f"{kind}.root"), Twice(NAMES))
    check_bytes(run)
    for chunk, once in zip(run.chunks, runs[kind].chunks, strict=True):
        assert bytes_of(chunk) == bytes_of(once)
        assert once["cached_reads"] == 0
        assert chunk["cached_reads"] == len(chunk["branches"])
        assert all(row["reads"] == 1 for row in chunk["branches"].values())
