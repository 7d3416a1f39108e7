# SPDX-License-Identifier: BSD-3-Clause
"""The ladders of chunks in ``get_metrics()``, from frames made by hand."""

from __future__ import annotations

import json

import pytest

from handmade_frames import frame, pairs, row, table
from roastcoffea import _core

SECOND = 1_000_000_000
OPEN, FORM, FETCH, COMPUTE, RUNQUEUE = 2, 3, 4, 8, 12
GC_CPU, OPEN_BYTES, HOOKS_MISSING = 14, 16, 23
SUBMIT = 11  # number of a hook
DATA, OFFSETS, PRELOADED = 1, 2, 4
FLAGS, READS, BYTES, UNCOMPRESSED, NS, IN_FILE, IN_FILE_UNCOMPRESSED = range(7)
TTREE, ZSTD = 1, 5

LADDER = pairs(OPEN, SECOND, FORM, 5 * SECOND, RUNQUEUE, SECOND, OPEN_BYTES, 500)
BRANCHES = table(
    {
        "nJet": {FLAGS: OFFSETS, READS: 1, BYTES: 7},
        "Jet_pt": {
            FLAGS: DATA | OFFSETS,
            READS: 2,
            BYTES: 300,
            UNCOMPRESSED: 1200,
            NS: SECOND // 2,
            IN_FILE: 900,
            IN_FILE_UNCOMPRESSED: 3600,
        },
        "Jet_eta": {FLAGS: PRELOADED, READS: 1, BYTES: 50},
    }
)
ENDPOINTS = table({"root://eos": {0: 2, 1: 9, 2: 1000, 3: SECOND, 4: 1}})
FACTS = row({0: TTREE, 1: ZSTD, 2: 4, 3: 100, 4: 3000, 5: 9000})


def metrics_of(*frames: bytes, quick: bool = False):
    """The metrics of a run that got these frames."""
    run = _core.Run(0, SECOND, "here")
    assert run.add_frames(b"".join(frames), True)[0] == len(frames)
    run.finish(SECOND)
    return run.metrics(quick)


@pytest.fixture(scope="module")
def metrics():
    reported = {"dataset": "ttbar", "file": "a.root", "treename": "Events", "status": 1}
    whole = {"ladder": LADDER, "task_ns": 8 * SECOND, "task_cpu_ns": 4 * SECOND}
    return metrics_of(
        frame(
            **reported,
            branches=BRANCHES,
            endpoints=ENDPOINTS,
            file_facts=FACTS,
            **whole,
        ),
        frame(**reported),
    )


def test_slices_are_seconds_by_name(metrics):
    assert metrics["ladder"] == {"open": 1.0, "form": 5.0}
    assert metrics["ladder_chunks"] == 1
    assert metrics["num_chunks_without_ladder"] == 1
    assert metrics["open_bytes"] == 500


def test_second_split_adds_up_to_the_chunk(metrics):
    assert metrics["chunk_split"] == {"on_cpu": 4.0, "runqueue": 1.0, "waiting": 3.0}


def test_costs_are_by_branch_the_largest_first(metrics):
    assert list(metrics["branch_costs"]) == ["Jet_pt", "Jet_eta", "nJet"]
    assert metrics["branch_costs"]["Jet_pt"] == {
        "bytes": 300,
        "uncompressed_bytes": 1200,
        "seconds": 0.5,
        "reads": 2,
        "chunks": 1,
        "accessed": True,
        "offsets_only": False,
        "preloaded": False,
    }
    assert metrics["branch_costs"]["nJet"]["offsets_only"] is True
    assert metrics["branch_costs"]["Jet_eta"]["preloaded"] is True
    assert metrics["total_branches_read"] == 1


def test_preload_is_a_list_of_names_that_json_takes(metrics):
    assert metrics["preload"] == ["Jet_pt", "nJet"]
    assert type(metrics["preload"]) is list
    assert json.loads(json.dumps(metrics["preload"])) == metrics["preload"]


def test_storage_by_endpoint(metrics):
    assert metrics["per_endpoint"] == {
        "root://eos": {
            "requests": 2,
            "ranges": 9,
            "bytes": 1000,
            "mean_request_bytes": 500.0,
            "wait_seconds": 1.0,
            "errors": 1,
            "rate": 1000.0,
        }
    }


def test_files_have_the_shapes_that_users_know(metrics):
    facts = metrics["file_metadata"]["a.root"]
    assert facts["total_branches"] == 4
    assert facts["total_tree_bytes"] == facts["compressed_bytes"] == 3000
    assert facts["compression_ratio"] == pytest.approx(1 / 3)
    assert metrics["compression_ratios"] == [facts["compression_ratio"]]
    assert metrics["file_read_metrics"]["a.root"] == {
        "total_branches": 4,
        "branches_read": 1,
        "branches_read_percent": 25.0,
        "total_tree_bytes": 3000,
        "bytes_read": 900,
        "bytes_read_percent": 30.0,
        "bytes_requested": 357,
        "accessed_branches": ["Jet_pt"],
        "offset_branches": ["nJet"],
    }
    assert metrics["bytes_read_percent_per_file"] == [30.0]
    assert metrics["avg_bytes_read_percent"] == 30.0


def test_missing_hooks_are_named_with_what_they_take_away():
    ladder = pairs(OPEN, 1, FORM, 1, HOOKS_MISSING, 1 << SUBMIT)
    metrics = metrics_of(frame(status=1, ladder=ladder))
    (hook,) = metrics["hooks_missing"]
    assert hook["hook"] == "submit"
    assert hook["chunks"] == 1
    why = metrics["unavailable"]["ladder.decompress"]
    assert why == f"{hook['where']} does not exist: {hook['lost']}"
    assert "decompress" not in metrics["ladder"]


def test_reasons_are_no_table_of_their_own(metrics):
    assert all(type(why) is str for why in metrics["unavailable"].values())
    assert metrics["unavailable"]["gc_seconds"]
    assert "ladder.result" in metrics["unavailable"]


def test_run_without_ladders_reports_it_and_has_the_keys():
    metrics = metrics_of(frame(status=1))
    assert metrics["ladder"] == metrics["branch_costs"] == {}
    assert metrics["preload"] == metrics["hooks_missing"] == []
    assert (
        metrics["unavailable"]["ladder"]
        == "the time inside the chunks was not measured"
    )
    assert "ladder" not in metrics_of(frame(status=1), quick=True)
