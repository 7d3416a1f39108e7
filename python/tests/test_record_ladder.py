# SPDX-License-Identifier: BSD-3-Clause
"""The inside of a chunk as its record shows it, from frames made by hand."""

from __future__ import annotations

import json

import pytest

from handmade_frames import frame, pairs, row, table
from roastcoffea import FormatError, _probe

IMPORT, OPEN, FORM, FETCH, COMPUTE, RUNQUEUE, FETCH_CPU = 1, 2, 3, 4, 8, 12, 13
GC_CPU, GC_RUNS, OPEN_BYTES, HOOKS_MISSING, UNKNOWN = 14, 15, 16, 23, 99
DATA, OFFSETS, PRELOADED = 1, 2, 4
FLAGS, READS, BYTES, UNCOMPRESSED, NS, IN_FILE, IN_FILE_UNCOMPRESSED = range(7)
OF_0_1_2 = [
    "accessed_branches",
    "num_branches_accessed",
    "accessed_bytes",
    "accessed_uncompressed_bytes",
    "branches_read_percent",
    "bytes_read_percent",
]

BRANCHES = table(
    {
        "nJet": {FLAGS: OFFSETS, READS: 1, BYTES: 7},
        "Muon_pt": {FLAGS: DATA, IN_FILE: 100, IN_FILE_UNCOMPRESSED: 400},
        "Jet_pt": {
            FLAGS: DATA | OFFSETS,
            READS: 2,
            BYTES: 300,
            UNCOMPRESSED: 1200,
            NS: 1_500_000_000,
            IN_FILE: 900,
            IN_FILE_UNCOMPRESSED: 3600,
        },
        "Jet_eta": {FLAGS: PRELOADED, READS: 1, BYTES: 50},
    }
)


def record_of(**fields):
    """The record of a frame with these fields."""
    (record,) = _probe.read_frames(frame(**fields))
    return dict(record)


def test_a_record_without_a_ladder_has_no_ladder_keys():
    record = record_of(status=1)
    assert not record.keys() & {"ladder", "split", "branches", "endpoints"}
    assert not record.keys() & {"file_metadata", "offset_branches", "gc_time"}
    assert {key: record[key] for key in OF_0_1_2} == dict.fromkeys(OF_0_1_2)


def test_slices_are_seconds_and_unknown_ones_are_absent():
    ladder = pairs(IMPORT, 0, FORM, 1_250_000_000, UNKNOWN, 7, COMPUTE, 5, RUNQUEUE, 9)
    record = record_of(ladder=ladder)
    assert record["ladder"] == {"import": 0.0, "form": 1.25, "compute": 5e-9}
    assert "split" not in record  # of how much time?


def test_items_have_keys_of_their_own():
    ladder = pairs(GC_CPU, 500_000_000, GC_RUNS, 3, OPEN_BYTES, 0, HOOKS_MISSING, 2)
    record = record_of(ladder=ladder, undecorated=1)
    assert (record["gc_time"], record["gc_runs"]) == (0.5, 3)
    assert record["open_bytes"] == 0
    assert record["ladder"] == {}
    assert record["undecorated"] is True
    assert "column_bytes" not in record


def test_the_split_adds_up_to_the_attempt():
    ladder = pairs(FETCH, 600_000_000, RUNQUEUE, 250_000_000, FETCH_CPU, 100_000_000)
    record = record_of(ladder=ladder, task_ns=2_000_000_000, task_cpu_ns=1_000_000_000)
    assert record["split"] == {
        "on_cpu": 1.0,
        "runqueue": 0.25,
        "fetch_wait": 0.5,
        "blocked": 0.25,
    }
    assert sum(record["split"].values()) == record["task_time"]


def test_a_split_without_fetch_does_not_make_one_up():
    record = record_of(ladder=pairs(RUNQUEUE, 0), task_ns=10**9, task_cpu_ns=0)
    assert record["split"] == {"on_cpu": 0.0, "runqueue": 0.0, "blocked": 1.0}


def test_branches_by_what_was_done_with_them():
    record = record_of(branches=BRANCHES)
    assert list(record["branches"]) == ["nJet", "Muon_pt", "Jet_pt", "Jet_eta"]
    assert record["branches"]["Jet_pt"] == {
        "bytes": 300,
        "uncompressed_bytes": 1200,
        "seconds": 1.5,
        "reads": 2,
    }
    assert record["accessed_branches"] == ["Jet_pt", "Muon_pt"]
    assert record["offset_branches"] == ["nJet"]
    assert record["num_branches_accessed"] == 2
    assert record["accessed_bytes"] == 1000
    assert record["accessed_uncompressed_bytes"] == 4000
    assert record["branches_read_percent"] is None  # of how many?


def test_facts_of_the_file_and_shares_of_it():
    facts = row({0: 1, 1: 5, 2: 8, 3: 10**6, 4: 4000, 5: 16000})
    sizes = {"a": {IN_FILE: 3000, IN_FILE_UNCOMPRESSED: 1}, "b": {}}
    record = record_of(
        file="/data/f.root",
        branches=BRANCHES,
        file_facts=facts,
        file_branches=table(sizes),
    )
    assert record["file_metadata"] == {
        "filename": "/data/f.root",
        "kind": "ttree",
        "codec": "zstd",
        "compression_ratio": 0.25,
        "compression_factor": 4.0,
        "compressed_bytes": 4000,
        "uncompressed_bytes": 16000,
        "total_tree_bytes": 4000,
        "total_branches": 8,
        "num_entries": 10**6,
        "branch_bytes": {"a": 3000},
    }
    assert record["branches_read_percent"] == 25.0
    assert record["bytes_read_percent"] == 25.0


def test_what_is_not_known_of_a_file_is_absent():
    record = record_of(file_facts=row({0: 77, 2: 8}), branches=table({}))
    assert record["file_metadata"] == {"total_branches": 8, "num_entries": 0}
    assert record["accessed_branches"] == []
    assert record["branches_read_percent"] == 0.0
    assert record["bytes_read_percent"] is None


def test_endpoints():
    host = {0: 3, 1: 4, 2: 300, 3: 250_000_000, 5: 2}
    blob = table({"root://host": host, ".": {4: 1}})
    assert record_of(endpoints=blob)["endpoints"] == {
        "root://host": {
            "requests": 3,
            "ranges": 4,
            "bytes": 300,
            "wait": 0.25,
            "errors": 0,
            "seeks": 2,
        },
        ".": {"requests": 0, "ranges": 0, "bytes": 0, "wait": 0.0, "errors": 1},
    }


def test_many_branches():
    names = [f"branch_{i:04}" for i in range(5000)]
    record = record_of(branches=table({name: {FLAGS: DATA} for name in names}))
    assert record["accessed_branches"] == names
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("field", ["ladder", "branches", "endpoints", "file_facts"])
@pytest.mark.parametrize("blob", [b"\xff", b"\x01", b"\xff" * 9 + b"\x01"])
def test_blobs_that_lie_are_refused(field, blob):
    with pytest.raises(FormatError) as refused:
        record_of(**{field: blob})
    assert refused.value.code == "BAD_DATA"


def test_branches_of_a_file_that_lie_are_refused():
    with pytest.raises(FormatError):
        record_of(file_facts=row({}), file_branches=b"\x05")


# ---- records made by hand ------------------------------------------------------------


def remade(mapping):
    """The record that formulas see of a mapping."""
    (record,) = _probe.read_frames(_probe.frame_of(mapping, 1))
    return dict(record)


def test_a_dict_of_a_record_gives_the_same_record():
    record = record_of(
        file="/data/f.root",
        ladder=pairs(FORM, 1_250_000_000, FETCH, 7, GC_CPU, 500_000_000, OPEN_BYTES, 9),
        branches=BRANCHES,
        endpoints=table({"/data": {0: 3, 1: 4, 2: 300, 3: 250_000_000, 4: 1}}),
        file_facts=row({0: 2, 1: 4, 2: 8, 3: 10, 4: 4000, 5: 16000}),
    )
    again = remade(record)
    kept = ["ladder", "gc_time", "open_bytes", "branches", "endpoints", "file_metadata"]
    kept += ["accessed_branches", "offset_branches", "branches_read_percent"]
    assert {key: again[key] for key in kept} == {key: record[key] for key in kept}


def test_a_record_of_0_1_2_has_branches_and_a_file():
    record = remade(
        {
            "file": "f1.root",
            "file_metadata": {
                "filename": "f1.root",
                "compression_ratio": 0.4,
                "total_branches": 10,
                "total_tree_bytes": 1000,
                "branch_bytes": {"Jet_pt": 100, "Muon_pt": 50, "nJet": 5},
            },
            "accessed_branches": ["Muon_pt", "Jet_pt", "other"],
        }
    )
    assert record["accessed_branches"] == ["Jet_pt", "Muon_pt", "other"]
    assert record["accessed_bytes"] == 150
    assert record["bytes_read_percent"] == 15.0
    assert record["branches_read_percent"] == 30.0
    assert record["file_metadata"] == {
        "filename": "f1.root",
        "compression_ratio": 0.4,
        "compression_factor": 2.5,
        "compressed_bytes": 1000,
        "uncompressed_bytes": 2500,
        "total_tree_bytes": 1000,
        "total_branches": 10,
        "num_entries": 0,
        "branch_bytes": {"Jet_pt": 100, "Muon_pt": 50, "nJet": 5},
    }


class Sly:
    """A number that empties what it lies in."""

    def __init__(self, dicts):
        self.dicts = dicts

    def __float__(self):
        for one in self.dicts:
            one.clear()
        return 1.0


@pytest.mark.parametrize("value", [None, 7, "text", [1, None], {1: 2}, {"a": "b"}])
def test_parts_of_the_wrong_kind_are_absent(value):
    keys = ["ladder", "branches", "endpoints", "file_metadata", "accessed_branches"]
    record = remade(dict.fromkeys([*keys, "offset_branches", "gc_time"], value))
    assert record.get("ladder", {}) == {}
    assert record.get("endpoints", {}) == {}
    assert "gc_time" not in record or value == 7


def test_negative_numbers_are_no_seconds():
    record = remade({"ladder": {"form": -1, "fetch": float("nan"), "compute": 2}})
    assert record["ladder"] == {"compute": 2.0}


@pytest.mark.parametrize("key", ["branches", "endpoints"])
def test_tables_that_change_while_they_are_read(key):
    part = {}
    row_of_it = dict.fromkeys(["bytes", "reads", "errors"], Sly([part]))
    part.update({"a": row_of_it, "b": row_of_it})
    record = remade({key: part})
    assert part == {}
    assert [row["bytes"] for row in record[key].values()] == [1, 1]


@pytest.mark.parametrize("key", ["ladder", "file_metadata"])
def test_dicts_that_change_while_they_are_read(key):
    part = {}
    names = ["form", "compute", "total_branches", "num_entries"]
    part.update(dict.fromkeys(names, Sly([part])))
    record = remade({key: part})
    assert part == {}
    assert set(record[key].values()) == {1}


def test_an_interrupt_while_names_are_read_is_the_users():
    def names():
        yield "a"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _probe.frame_of({"accessed_branches": names()}, 1)
