# SPDX-License-Identifier: BSD-3-Clause
"""Every byte has a name: what coffea counts as read is told by branch, tree metadata and
opening, to the byte, for every kind of file and however it is read."""

from __future__ import annotations

import collections

import awkward as ak
import pyarrow.parquet as pq
import pytest
import uproot
from coffea.nanoevents import BaseSchema, NanoEventsFactory
from coffea.nanoevents.trace import trace

from collecting import threads
from reads import (
    CHUNKS,
    CODECS,
    NAMES,
    SAMPLES,
    Reader,
    Run,
    bytes_of,
    fileset,
    sample_run,
    write_ntuple,
    write_parquet,
    write_tree,
)

KINDS = [*CODECS, "rntuple"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each kind, named after it; other.root has other events."""
    folder = tmp_path_factory.mktemp("kinds")
    for codec in CODECS:
        write_tree(folder / f"{codec}.root", codec)
    write_tree(folder / "other.root", seed=2)
    write_ntuple(folder / "rntuple.root")
    write_parquet(folder / "events.parquet")
    return folder


@pytest.fixture(scope="module")
def runs(folder):
    """Every branch of a file, read lazily, once for each kind."""
    return {kind: Run(fileset(folder / f"{kind}.root"), Reader(NAMES)) for kind in KINDS}


def check_bytes(run):
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
    told = metrics["open_bytes"] + metrics["metadata_bytes"] + read
    assert told == run.report["bytesread"] == metrics["total_bytes_read"]
    ends = metrics["per_endpoint"].values()
    assert sum(end["bytes"] for end in ends) == run.report["bytesread"]


def check_access(run):
    """Which branches were read, and what for, against coffea's log."""
    for chunk in run.chunks:
        columns = run.truth_of(chunk)["columns"]
        data = {c.removesuffix("-data") for c in columns if c.endswith("-data")}
        others = {c.rpartition("-")[0] for c in columns} - data
        assert set(chunk["accessed_branches"]) == data
        assert set(chunk["offset_branches"]) == others
        assert set(chunk["branches"]) == data | others


# ---- files of our own -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_of_branches_metadata_and_opening_are_coffeas(runs, kind):
    assert len(runs[kind].chunks) == CHUNKS
    check_bytes(runs[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_accessed_branches_are_those_whose_values_coffea_read(runs, kind):
    check_access(runs[kind])
    for chunk in runs[kind].chunks:
        assert chunk["accessed_branches"] == sorted(NAMES)
        assert chunk["offset_branches"] == ["nHit", "nTrack"]


@pytest.mark.parametrize("kind", CODECS)
def test_bytes_of_a_branch_are_those_of_its_baskets(runs, folder, kind):
    """uproot says where a branch has its baskets; a chunk needs those it touches."""
    with uproot.open(folder / f"{kind}.root") as root:
        for chunk in runs[kind].chunks:
            for name, row in chunk["branches"].items():
                branch = root["Events"][name]
                touched = [
                    number
                    for number in range(branch.num_baskets)
                    if branch.basket_entry_start_stop(number)[0] < chunk["entry_stop"]
                    and branch.basket_entry_start_stop(number)[1] > chunk["entry_start"]
                ]
                assert row["bytes"] == sum(
                    map(branch.basket_compressed_bytes, touched)
                )
                assert row["uncompressed_bytes"] == sum(
                    map(branch.basket_uncompressed_bytes, touched)
                )
                assert row["reads"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_costs_of_the_run_are_those_of_its_chunks(runs, kind):
    run = runs[kind]
    for name, cost in run.metrics["branch_costs"].items():
        rows = [chunk["branches"][name] for chunk in run.chunks]
        for key in ("bytes", "uncompressed_bytes", "reads"):
            assert cost[key] == sum(row[key] for row in rows)
        assert cost["seconds"] == pytest.approx(sum(row["seconds"] for row in rows))
        assert cost["chunks"] == CHUNKS
        assert cost["accessed"] == (name in NAMES) != cost["offsets_only"]
        assert not cost["preloaded"]
    assert run.metrics["preload"] == sorted(run.metrics["branch_costs"])


def test_jagged_branches_without_a_schema_are_read_for_their_own_offsets(folder):
    run = Run(fileset(folder / "lz4.root"), Reader(NAMES), schema=BaseSchema)
    check_bytes(run)
    check_access(run)
    assert run.chunks[0]["offset_branches"] == []
    assert run.chunks[0]["branches"]["Hit_value"]["reads"] == 1


def test_chunks_in_threads_count_their_own_bytes(runs, folder):
    run = Run(fileset(folder / "zlib.root"), Reader(NAMES), executor=threads())
    check_bytes(run)
    check_access(run)
    expected = [bytes_of(chunk) for chunk in runs["zlib"].chunks]
    assert [bytes_of(chunk) for chunk in run.chunks] == expected


# ---- real files -------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_bytes_of_real_files_are_coffeas(real_folder, name):
    run = sample_run(real_folder, name)
    check_bytes(run)
    check_access(run)


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
            assert row["bytes"] == other["branches"][name]["bytes"]
            unpacked = other["branches"][name]["uncompressed_bytes"]
            assert row["uncompressed_bytes"] == unpacked
        assert chunk["accessed_branches"] == other["accessed_branches"]
        assert chunk["offset_branches"] == other["offset_branches"]
    costs = run.metrics["branch_costs"]
    assert all(cost["preloaded"] for cost in costs.values())
    assert run.metrics["preload"] == lazy.metrics["preload"]
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


def test_files_with_different_access_are_told_apart(folder):
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
        return super().process(events) | {"extra": extra}


@pytest.mark.parametrize("other", ["other.root", "zlib.root", "rntuple.root"])
def test_files_that_process_opens_itself_are_not_the_chunks(runs, folder, other):
    run = Run(fileset(folder / "zlib.root"), Foreign(["Hit_value"], folder / other))
    for chunk, alone in zip(run.chunks, runs["zlib"].chunks, strict=True):
        read = bytes_of(chunk)
        assert read == {name: bytes_of(alone)[name] for name in ("Hit_value", "nHit")}
        told = chunk["open_bytes"] + chunk["metadata_bytes"] + sum(read.values())
        assert told == run.truth_of(chunk)["bytesread"]
        assert chunk["other_bytes"] == 0
    check_access(run)
    assert run.metrics["file_metadata"].keys() == {str(folder / "zlib.root")}


# ---- caches -----------------------------------------------------------------------


def test_buffers_that_a_cache_had_are_counted_apart(runs, folder):
    cache: dict[str, object] = {}
    files, analysis = fileset(folder / "zlib.root"), Reader(NAMES)
    first = Run(files, analysis, cachestrategy=lambda: cache)
    check_bytes(first)
    assert first.metrics["cached_reads"] == 0
    again = Run(files, analysis, cachestrategy=lambda: cache)
    check_bytes(again)
    assert again.metrics["column_bytes"] == 0
    assert again.metrics["cached_reads"] == len(cache)
    assert again.out == first.out == runs["zlib"].out


class Twice(Reader):
    """Reads everything, and once more from new arrays."""

    def process(self, events):
        again = events.attrs["@events_factory"].events()
        again.attrs["@original_array"] = again
        more = NanoEventsFactory.events(events.attrs["@events_factory"])
        return super().process(events) | super().process(more)


def test_a_column_that_is_read_twice_is_requested_once(runs, folder):
    run = Run(fileset(folder / "zlib.root"), Twice(NAMES))
    check_bytes(run)
    for chunk, once in zip(run.chunks, runs["zlib"].chunks, strict=True):
        assert bytes_of(chunk) == bytes_of(once)


# ---- parquet ----------------------------------------------------------------------


def test_bytes_of_parquet_columns_are_those_of_the_footer(folder):
    path = folder / "events.parquet"
    run = Run(fileset(path), Reader(NAMES), format="parquet", schema=BaseSchema)
    footer = pq.ParquetFile(path).metadata
    assert footer.num_row_groups > 1
    packed, unpacked = collections.Counter(), collections.Counter()
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema.partition(".")[0]
            packed[name] += column.total_compressed_size
            unpacked[name] += column.total_uncompressed_size
    for chunk in run.chunks:
        assert bytes_of(chunk) == {name: packed[name] for name in NAMES}
        for name in NAMES:
            row = chunk["branches"][name]
            assert row["uncompressed_bytes"] == unpacked[name]
            assert row["reads"] == 1
        assert chunk["column_bytes"] == sum(bytes_of(chunk).values())
        assert chunk["accessed_branches"] == sorted(NAMES)
    assert "open_bytes" not in run.metrics
    assert "parquet" in run.metrics["unavailable"]["open_bytes"]
