# SPDX-License-Identifier: BSD-3-Clause
"""The size of each chunk's result as the executor packed it."""

from __future__ import annotations

import concurrent.futures

import numpy as np
import pytest
from coffea import processor

import roastcoffea
from clusters import dask_runner, shared_client
from collector_helpers import CHUNKS, EVENTS, Plain, fileset_of, iterative, make_runner

client = pytest.fixture(scope="module")(shared_client)

PAYLOAD = 300_000
ROOM = 5_000  # of what is around it, and of the format
SIZE = "output_bytes"


class Giving(Plain):
    """An output that does not compress; in the chunk at entry 1000 twice as much."""

    def process(self, events):
        start = events.metadata["entrystart"]
        size = PAYLOAD * (2 if start == 1000 else 1)
        noise = np.random.default_rng(start).integers(0, 256, size, np.uint8)
        return {"n": len(events), "noise": [noise.tobytes()]}


def measured(runner, file):
    with roastcoffea.monitor() as run:
        output = runner(fileset_of(file), Giving())
    assert output["n"] == EVENTS
    assert run.get_metrics()["monitor_errors"] == 0
    return run


def check_sizes(run):
    sizes = {r["entry_start"]: r[SIZE] for r in run.chunk_metrics}
    expected = {0: PAYLOAD, 1000: 2 * PAYLOAD, 2000: PAYLOAD}
    assert sizes.keys() == expected.keys()
    for start, size in sizes.items():
        assert expected[start] <= size <= expected[start] + ROOM
    metrics = run.get_metrics()
    assert metrics["output_bytes_total"] == sum(sizes.values())
    assert metrics["output_bytes_max"] == max(sizes.values())
    assert metrics["output_bytes_mean"] == pytest.approx(sum(sizes.values()) / CHUNKS)
    assert metrics["per_dataset"]["ttbar"][SIZE] == sum(sizes.values())
    assert sorted(run.chunks[SIZE]) == sorted(sizes.values())
    assert not [row for row in metrics["absent_fields"] if row["field"] == SIZE]


def pool(kind, **options):
    return make_runner(
        processor.FuturesExecutor(pool=kind, workers=2, status=False, **options)
    )


@pytest.mark.parametrize(
    "kind",
    [concurrent.futures.ProcessPoolExecutor, concurrent.futures.ThreadPoolExecutor],
)
def test_sizes_in_a_pool(kind, tiny_file):
    check_sizes(measured(pool(kind), tiny_file))


def test_sizes_on_dask(client, tiny_file):
    check_sizes(measured(dask_runner(client, savemetrics=False), tiny_file))


def test_sizes_in_a_saved_run(tiny_file, tmp_path):
    run = measured(pool(concurrent.futures.ThreadPoolExecutor), tiny_file)
    run.save(tmp_path / "run.roast")
    check_sizes(roastcoffea.open_run(tmp_path / "run.roast"))


@pytest.mark.parametrize(
    "runner",
    [
        lambda: make_runner(iterative()),
        lambda: pool(concurrent.futures.ThreadPoolExecutor, compression=None),
    ],
)
def test_an_executor_that_packs_nothing_is_the_reason(runner, tiny_file):
    run = measured(runner(), tiny_file)
    metrics = run.get_metrics()
    for record in run.chunk_metrics:
        assert SIZE not in record
        assert "does not pack" in record["unavailable"][SIZE]
    for name in ("output_bytes_total", "output_bytes_mean", "output_bytes_max"):
        assert name not in metrics
        assert "does not pack" in metrics["unavailable"][name]
    (absent,) = (row for row in metrics["absent_fields"] if row["field"] == SIZE)
    assert absent["chunks"] == CHUNKS
