# SPDX-License-Identifier: BSD-3-Clause
"""Every byte is accounted for: what coffea counts as read is split by branch, tree
metadata and opening, to the byte, for every kind of file."""

from __future__ import annotations

import collections

import pyarrow.parquet as pq
import pytest
import uproot
from coffea.nanoevents import BaseSchema

from collector_helpers import threads
from reads import (
    CHUNKS,
    CODECS,
    KINDS,
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
                assert row["bytes"] == sum(map(branch.basket_compressed_bytes, touched))
                assert row["uncompressed_bytes"] == sum(
                    map(branch.basket_uncompressed_bytes, touched)
                )
                assert row["reads"] == 1


@pytest.mark.parametrize("kind", CODECS)
def test_baskets_of_a_file_are_those_that_uproot_finds(runs, folder, kind):
    rows = runs[kind].collector.file_branches.rows()
    with uproot.open(folder / f"{kind}.root") as root:
        for row in rows:
            branch = root["Events"][row["branch"]]
            assert row["baskets"] == branch.num_baskets > 1
            assert row["basket_bytes"] == row["compressed_bytes"] / row["baskets"]
            assert row["basket_entries"] == branch.num_entries / branch.num_baskets
    assert {row["branch"] for row in rows} >= set(NAMES)


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
        assert chunk["metadata_bytes"] == footer.serialized_size + 8
    assert "preload" not in run.metrics or run.metrics["preload"] == []
    assert "parquet" in run.metrics["unavailable"]["preload"]
    assert "open_bytes" not in run.metrics
    assert "parquet" in run.metrics["unavailable"]["open_bytes"]
