# SPDX-License-Identifier: BSD-3-Clause
"""What is said of files and of how much of them is read, against uproot and pyarrow,
which are requested directly."""

from __future__ import annotations

import statistics

import numpy as np
import pyarrow.parquet as pq
import pytest
import uproot
from coffea.nanoevents import BaseSchema

from reads import (
    CHUNKS,
    CODECS,
    EVENTS,
    NAMES,
    Reader,
    Run,
    described,
    facts_of,
    fileset,
    write_ntuple,
    write_parquet,
    write_tree,
)

FIELDS = 9  # branches of the files that are written here
READ = ["Hit_value", "Track_length", "event"]


def run_of(path, names=NAMES, **options):
    return Run(fileset(path), Reader(names), **options)


# ---- the tree ---------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_a_tree_is_described_as_uproot_does(tmp_path, codec):
    path = write_tree(tmp_path / "tree.root", codec)
    sizes = described(path)
    run = run_of(path)
    facts = facts_of(run, path)
    packed, unpacked = map(sum, zip(*sizes.values(), strict=True))
    assert facts["kind"] == "ttree"
    assert facts["codec"] == codec
    assert facts["total_branches"] == len(sizes) == FIELDS
    assert facts["num_entries"] == EVENTS
    assert facts["compressed_bytes"] == facts["total_tree_bytes"] == packed
    assert facts["uncompressed_bytes"] == unpacked
    assert facts["compression_ratio"] == pytest.approx(packed / unpacked)
    assert facts["compression_factor"] == pytest.approx(unpacked / packed)
    assert run.metrics["compression_ratios"] == [facts["compression_ratio"]]
    for chunk in run.chunks:
        assert chunk["file_metadata"] | {"branch_bytes": None} == facts | {
            "branch_bytes": None
        }


@pytest.mark.parametrize("codec", CODECS)
def test_the_codec_is_known_from_baskets_that_are_not_packed(tmp_path, codec):
    """ROOT stores as it is what does not get smaller: noise, or a few events."""
    path = tmp_path / "tree.root"
    noise = np.random.default_rng(1).integers(0, 2**63, EVENTS).astype(np.uint64)
    with uproot.recreate(path, compression=CODECS[codec]) as root:
        root.mktree("Events", {"event": "uint64"}).extend({"event": noise})
    branch = uproot.open(path)["Events"]["event"]
    assert branch.compressed_bytes == branch.uncompressed_bytes
    run = run_of(path, ["event"], schema=BaseSchema)
    assert facts_of(run, path)["codec"] == codec


@pytest.mark.parametrize("codec", ["zstd", "none"])
def test_an_ntuple_is_described_without_sizes(tmp_path, codec):
    """Its metadata has none but those of pages."""
    path = write_ntuple(tmp_path / "ntuple.root", codec)
    run = run_of(path)
    facts = facts_of(run, path)
    assert facts["kind"] == "rntuple"
    assert facts["total_branches"] == FIELDS
    assert facts["num_entries"] == EVENTS
    assert not {key for key in facts if "bytes" in key or "compression" in key}
    if codec != "none":  # a page that is not packed does not say so
        assert facts["codec"] == codec
    assert "avg_bytes_read_percent" not in run.metrics
    assert run.metrics["unavailable"]["avg_bytes_read_percent"]
    share = len(NAMES) / FIELDS * 100
    assert run.metrics["avg_branches_read_percent"] == pytest.approx(share)
    assert "branch_bytes" not in run.chunks[0]["file_metadata"]
    assert run.chunks[0]["bytes_read_percent"] is None


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip"])
def test_a_parquet_file_is_described_as_its_footer_does(tmp_path, codec):
    path = write_parquet(tmp_path / "events.parquet", codec)
    run = run_of(path, READ, format="parquet", schema=BaseSchema)
    footer = pq.ParquetFile(path).metadata
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    packed = sum(column.total_compressed_size for column in columns)
    unpacked = sum(column.total_uncompressed_size for column in columns)
    read = sum(
        column.total_compressed_size
        for column in columns
        if column.path_in_schema.partition(".")[0] in READ
    )
    facts = facts_of(run, path)
    assert facts["kind"] == "parquet"
    assert facts["codec"] == codec
    assert facts["total_branches"] == FIELDS
    assert facts["num_entries"] == EVENTS
    assert facts["compressed_bytes"] == packed
    assert facts["uncompressed_bytes"] == unpacked
    assert run.metrics["compression_ratios"] == [pytest.approx(packed / unpacked)]
    row = run.metrics["file_read_metrics"][str(path)]
    assert row["accessed_branches"] == sorted(READ)
    assert row["bytes_read"] == read
    assert row["bytes_read_percent"] == pytest.approx(read / packed * 100)
    assert row["branches_read_percent"] == pytest.approx(len(READ) / FIELDS * 100)


# ---- sizes of branches ------------------------------------------------------------


def test_sizes_of_branches_come_with_the_first_chunk_of_a_file(tmp_path):
    paths = [write_tree(tmp_path / f"{seed}.root", seed=seed) for seed in (1, 2)]
    run = Run(fileset(*paths), Reader(NAMES))
    for path in paths:
        chunks = [chunk for chunk in run.chunks if chunk["file"] == str(path)]
        chunks.sort(key=lambda chunk: chunk["t_start"])
        tables = [chunk["file_metadata"].get("branch_bytes") for chunk in chunks]
        expected = {name: packed for name, (packed, _) in described(path).items()}
        assert tables == [expected, *[None] * (CHUNKS - 1)]


def test_sizes_of_branches_are_sent_to_every_run(tmp_path):
    path = write_tree(tmp_path / "tree.root")
    for run in (run_of(path), run_of(path)):
        reported = ["branch_bytes" in chunk["file_metadata"] for chunk in run.chunks]
        assert sum(reported) == 1


# ---- how much of it is read -------------------------------------------------------


def test_shares_of_a_chunk_are_those_of_its_accessed_branches(tmp_path):
    path = write_tree(tmp_path / "tree.root")
    sizes = described(path)
    total = sum(packed for packed, _ in sizes.values())
    for chunk in run_of(path, READ).chunks:
        assert chunk["accessed_branches"] == sorted(READ)
        assert chunk["num_branches_accessed"] == len(READ)
        read = sum(sizes[name][0] for name in READ)
        assert chunk["accessed_bytes"] == read
        assert chunk["accessed_uncompressed_bytes"] == sum(sizes[n][1] for n in READ)
        assert chunk["bytes_read_percent"] == pytest.approx(read / total * 100)
        share = len(READ) / FIELDS * 100
        assert chunk["branches_read_percent"] == pytest.approx(share)


def test_shares_of_files_and_of_the_run(tmp_path):
    """A file's branches are the union over its chunks, the run's the union over files,
    and its shares the means over files."""
    paths = [write_tree(tmp_path / f"{seed}.root", seed=seed) for seed in (1, 2)]
    read = {"all": ["Hit_value", "event"], "two": ["Track_length", "event", "run"]}
    files = fileset(paths[0]) | {"two": fileset(paths[1])["all"]}
    run = Run(files, Reader(read["all"], two=read["two"]))
    shares = []
    for path, names in zip(paths, read.values(), strict=True):
        sizes = described(path)
        total = sum(packed for packed, _ in sizes.values())
        expected = {
            "total_branches": FIELDS,
            "branches_read": len(names),
            "branches_read_percent": pytest.approx(len(names) / FIELDS * 100),
            "total_tree_bytes": total,
            "bytes_read": sum(sizes[name][0] for name in names),
        }
        row = run.metrics["file_read_metrics"][str(path)]
        assert {key: row[key] for key in expected} == expected
        assert row["bytes_read_percent"] == pytest.approx(
            expected["bytes_read"] / total * 100
        )
        shares.append((row["branches_read_percent"], row["bytes_read_percent"]))
    metrics = run.metrics
    assert metrics["total_branches_read"] == len({*read["all"], *read["two"]})
    branches, sizes = zip(*shares, strict=True)
    assert metrics["avg_branches_read_percent"] == pytest.approx(
        statistics.mean(branches)
    )
    assert metrics["avg_bytes_read_percent"] == pytest.approx(statistics.mean(sizes))
    assert sorted(metrics["bytes_read_percent_per_file"]) == pytest.approx(
        sorted(sizes)
    )


class ByEntry(Reader):
    """Reads another branch in each chunk of a file."""

    def process(self, events):
        at = events.metadata["entrystart"] // (EVENTS // CHUNKS)
        self.names = (NAMES[at],)
        return super().process(events)


def test_branches_of_a_file_are_those_of_all_its_chunks(tmp_path):
    path = write_tree(tmp_path / "tree.root")
    run = Run(fileset(path), ByEntry(()))
    read = [chunk["accessed_branches"] for chunk in run.chunks]
    assert read == [[name] for name in NAMES[:CHUNKS]]
    row = run.metrics["file_read_metrics"][str(path)]
    assert row["accessed_branches"] == sorted(NAMES[:CHUNKS])
    assert row["branches_read"] == CHUNKS
    sizes = described(path)
    assert row["bytes_read"] == sum(sizes[name][0] for name in NAMES[:CHUNKS])
