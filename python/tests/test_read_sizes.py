# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of reads, seeks and waits, against a source that keeps what was requested."""

from __future__ import annotations

import collections

import pytest
import uproot

import roastcoffea
from collector_helpers import iterative, make_runner
from reads import CHUNKS, EVENTS, Reader, write_tree

SMALLEST = 64  # all below it are one bin


opened: list[list[tuple[int, int]]] = []  # the ranges of each opened file, in order


class Logging(uproot.MemmapSource):
    """Keeps the ranges that are requested from it."""

    def __init__(self, *args, **options):
        self.log = []
        opened.append(self.log)
        super().__init__(*args, **options)

    def chunk(self, start, stop):
        self.log.append((start, stop))
        return super().chunk(start, stop)

    def chunks(self, ranges, notifications):
        self.log.extend(ranges)
        return super().chunks(ranges, notifications)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of which the entries of the file were known before."""
    path = write_tree(tmp_path_factory.mktemp("reads") / "tree.root")
    files = {"all": {"files": {str(path): "Events"}}}
    runner = make_runner(iterative(), chunksize=EVENTS // CHUNKS)
    options = {"uproot_options": {"handler": Logging}}
    runner(files, Reader(("event", "Hit_value")), **options)
    opened.clear()
    with roastcoffea.monitor() as run:
        runner(files, Reader(("event", "Hit_value")), **options)
    assert len(opened) == CHUNKS
    return run


def test_sizes_are_those_of_the_ranges(run):
    expected = collections.Counter(
        1 << size.bit_length() - 1 if size >= SMALLEST * 2 else 0
        for log in opened
        for size in (stop - start for start, stop in log)
    )
    rows = list(run.read_sizes.rows())
    assert {row["from_bytes"]: row["ranges"] for row in rows} == expected
    for row in rows:
        assert row["below_bytes"] == (2 * row["from_bytes"] or 2 * SMALLEST)
    assert sum(expected.values()) == run.endpoints["ranges"][0]


def test_a_range_that_does_not_follow_the_last_one_is_a_seek(run):
    seeks = 0
    for log in opened:
        ends = [0, *(stop for _, stop in log)]
        seeks += sum(start != end for (start, _), end in zip(log, ends, strict=False))
    assert run.endpoints["seeks"][0] == run.files["seeks"][0] == seeks > 0


def test_waits_have_a_median_and_a_rate(run):
    (row,) = run.endpoints.rows()
    assert 0 < row["latency_p50"] <= row["latency_p99"] < 4 * row["wait_seconds"]
    assert row["rate"] == pytest.approx(row["bytes"] / row["wait_seconds"])
