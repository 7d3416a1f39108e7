# SPDX-License-Identifier: BSD-3-Clause
"""Memory of the client, and outputs that make it grow."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest
from coffea import processor

import roastcoffea
from clusters import dask_runner, shared_client
from collector_helpers import EVENTS, Plain, fileset_of, make_runner
from faulty_analyses import MB, diagnose
from support import run_python, touched

client = pytest.fixture(scope="module")(shared_client)

SERIES = "client_memory"
SCRIPT = """
    import json
    import sys

    from test_client_memory import grown

    if __name__ == "__main__":
        print(json.dumps(grown(50, sys.argv[1]).of("client_memory")))
"""


class Giving(Plain):
    """Columns in the output, which grow with every chunk."""

    def __init__(self, size_mb):
        self.size_mb = size_mb

    def process(self, events):
        start = events.metadata["entrystart"]
        noise = np.random.default_rng(start).integers(
            0, 256, self.size_mb * MB, np.uint8
        )
        time.sleep(1)  # so that the memory is sampled between two outputs
        return {"n": len(events), "columns": [noise]}


def processes(**options):
    return processor.FuturesExecutor(workers=2, status=False, **options)


def check_series(run):
    table = run.samples(SERIES)
    assert {*table["worker"]} == {f"pid-{os.getpid()}"}
    values = table["value"].to_numpy()
    metrics = run.get_metrics()
    assert metrics["client_memory_start_bytes"] == values[0] > 10 * MB
    assert metrics["client_memory_peak_bytes"] == values.max()
    (points,) = run.get_metrics()["tracking_data"][SERIES].values()
    assert [value for _, value in points] == list(values)


def held_run(runner, file):
    """A run with 200 MB held from before its first chunk to after its last one."""
    with roastcoffea.monitor() as run:
        memory = touched(200 * MB)
        runner(fileset_of(file), Plain())
    memory.close()
    return run


def test_series_and_peak(tiny_file, tmp_path):
    run = held_run(make_runner(processes()), tiny_file)
    check_series(run)
    metrics = run.get_metrics()
    grown = metrics["client_memory_peak_bytes"] - metrics["client_memory_start_bytes"]
    assert grown > 150 * MB
    assert "Client Memory, Peak" in run._page("full")
    run.save(tmp_path / "run.roast")
    check_series(roastcoffea.open_run(tmp_path / "run.roast"))


def test_client_of_a_cluster(client, tiny_file):
    run = held_run(dask_runner(client), tiny_file)
    check_series(run)
    assert f"pid-{os.getpid()}" not in run.get_metrics()["per_worker"]


def test_it_is_no_worker(tiny_file):
    metrics = held_run(make_runner(processes()), tiny_file).get_metrics()
    assert f"pid-{os.getpid()}" not in metrics["per_worker"]


def grown(size_mb, file):
    chunks = 16
    return diagnose(
        processes(), fileset_of(file), Giving(size_mb), chunksize=-(-EVENTS // chunks)
    )


def test_outputs_that_make_it_grow(tiny_file):
    """In a process of its own, which has no memory to use again."""
    out = run_python(SCRIPT, tiny_file)
    finding = json.loads(out.splitlines()[-1])  # coffea prints its progress, too
    assert "grows with the outputs" in finding["title"]
    assert "while the outputs of 16 chunks arrived (" in finding["evidence"]
    assert "packed); it began with " in finding["evidence"]
    assert "smaller outputs" in finding["advice"]
    assert finding["severity"] == "medium"


def test_small_outputs(tiny_file):
    grown(0, tiny_file).lacks("client_memory")
