# SPDX-License-Identifier: BSD-3-Clause
"""The files of examples/make_samples.py, read as users read them: through coffea.

One default set is written per test session: few events, but all branches and two
clusters per file, so that coffea's chunks cross a cluster border.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("coffea")
pytest.importorskip("pyarrow")

import awkward as ak
import pyarrow.parquet as pq
import uproot
from coffea import processor
from coffea.nanoevents import NanoAODSchema

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))  # the writer's own processes find it there, too

import make_samples  # noqa: E402

EVENTS = 6_000
TREES = {  # one file per codec
    "ttbar_0_zstd.root": "ZSTD",
    "ttbar_1_lz4.root": "LZ4",
    "wjets_0_zlib.root": "ZLIB",
    "data_0_lzma.root": "LZMA",
}
RNTUPLE = "ttbar_rntuple.root"
PARQUET = "ttbar_parquet.parquet"


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    assert make_samples.write_samples(folder, "all", events=EVENTS)
    return folder


def facts(jet_pt, muon_jet, met, pdg=None, mother=None):
    """Numbers that come out right only if collections and indices are understood."""
    matched = muon_jet >= 0
    result = {
        "events": len(met),
        "jets": int(ak.sum(ak.num(jet_pt))),
        "large met": int(ak.sum(met > 100)),
        "matched pt": round(float(ak.sum(jet_pt[muon_jet[matched]])), 1),
    }
    if pdg is not None:
        tops = abs(pdg[mother[abs(pdg) == 24]]) == 6
        result["W from top"] = int(ak.sum(tops))
    return result


def raw_facts(path):
    """The facts from plain branches, without coffea."""
    names = ["Jet_pt", "Muon_jetIdx", "MET_pt"]
    names += ["GenPart_pdgId", "GenPart_genPartIdxMother"]
    if path.suffix == ".parquet":
        table = pq.read_table(path, columns=names)
        return facts(*(ak.from_arrow(table[name]) for name in names))
    with uproot.open(path) as root:
        tree = root["Events"]
        return facts(*(tree[name].array() for name in names if name in tree.keys()))


def nano_facts(events):
    """The same facts from NanoEvents and its cross-references."""
    muons = events.Muon[events.Muon.jetIdx >= 0]
    result = {
        "events": len(events),
        "jets": int(ak.sum(ak.num(events.Jet))),
        "large met": int(ak.sum(events.MET.pt > 100)),
        "matched pt": float(ak.sum(muons.matched_jet.pt)),
    }
    if "GenPart" in events.fields:
        bosons = events.GenPart[abs(events.GenPart.pdgId) == 24]
        result["W from top"] = int(ak.sum(abs(bosons.parent.pdgId) == 6))
    return {events.metadata["dataset"]: result}


def run_coffea(path, **options):
    runner = processor.Runner(
        executor=processor.IterativeExecutor(),
        schema=NanoAODSchema,
        chunksize=EVENTS // 2,
        **options,
    )
    with warnings.catch_warnings():
        # what the schema says about a cross-reference that leads nowhere
        warnings.simplefilter("error", RuntimeWarning)
        output = runner({"x": {"files": {str(path): "Events"}}}, nano_facts)
    output["x"]["matched pt"] = pytest.approx(output["x"]["matched pt"], rel=1e-5)
    return output["x"]


LONG = ("ttbar_1_lz4.root", "wjets_0_zlib.root")  # the codec alone is another one


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG else ())
        for name in (*TREES, RNTUPLE, PARQUET)
    ],
)
def test_coffea_reads_what_was_written(samples, name):
    form = "parquet" if name == PARQUET else "root"
    expected = raw_facts(samples / name)
    assert expected["events"] == EVENTS
    assert ("W from top" in expected) == (not name.startswith("data"))
    assert run_coffea(samples / name, format=form) == expected


@pytest.mark.parametrize(("name", "codec"), TREES.items())
def test_tree_has_the_codec_of_its_name(samples, name, codec):
    with uproot.open(samples / name) as root:
        assert type(root.file.compression).__name__ == codec
        # uproot writes no codec into branches: ask the baskets themselves
        for branch in ("Jet_pt", "event", "HLT_IsoMu24"):
            blocks = root["Events"][branch].basket(1).block_compression_info
            assert {block[0] for block in blocks} == {codec}


@pytest.mark.parametrize("name", TREES)
def test_tree_has_a_thousand_branches_and_two_clusters(samples, name):
    with uproot.open(samples / name) as root:
        tree = root["Events"]
        assert len(tree.keys()) > 1000
        assert tree.common_entry_offsets() == [0, make_samples.CLUSTER, EVENTS]
        assert sum(key.startswith("HLT_") for key in tree.keys()) > 300
        assert any(key.startswith("Gen") for key in tree.keys()) == ("data" not in name)


def test_formats_hold_the_same_events(samples):
    with uproot.open(samples / RNTUPLE) as root:
        fields = root["Events"].arrays(["event", "Jet_pt", "GenPart_pdgId"])
    table = pq.read_table(samples / PARQUET)
    for name in fields.fields:
        assert ak.array_equal(fields[name], ak.from_arrow(table[name])), name


def test_files_differ_in_uuid(samples):
    """coffea tells files apart by it."""
    uuids = {uproot.open(samples / name).file.uuid for name in (*TREES, RNTUPLE)}
    assert len(uuids) == len(TREES) + 1


def test_tree_holds_what_the_seed_says(samples):
    wjets = list(make_samples.plan("physics", EVENTS, None))[2]
    starts = range(0, EVENTS, make_samples.CLUSTER)
    expected = [make_samples.cluster(wjets, 1, first) for first in starts]
    with uproot.open(samples / wjets["name"]) as root:
        arrays = root["Events"].arrays(list(expected[0]), how=dict)
    for name, array in arrays.items():
        written = ak.concatenate([columns[name] for columns in expected])
        assert ak.array_equal(array, written), name


def test_second_write_gives_the_same_arrays(samples, tmp_path):
    make_samples.write_samples(tmp_path, "parquet", EVENTS)
    again = pq.read_table(tmp_path / PARQUET)
    assert again.equals(pq.read_table(samples / PARQUET))


def test_every_file_and_seed_has_events_of_its_own():
    todo = list(make_samples.plan("physics", 100, 2))
    drawn = [make_samples.cluster(file, seed, 0) for file in todo for seed in (1, 2)]
    assert len({tuple(columns["MET_pt"]) for columns in drawn}) == 12


def test_second_call_writes_nothing_and_says_so(samples, capsys):
    before = {path: path.stat().st_mtime_ns for path in samples.iterdir()}
    assert not make_samples.write_samples(samples, "all", events=EVENTS)
    assert "nothing written" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in samples.iterdir()} == before


def test_damaged_folder_is_seen_and_rewritten(tmp_path):
    make_samples.write_samples(tmp_path, "parquet", events=50)
    (tmp_path / PARQUET).write_bytes(b"PAR1")
    with pytest.raises(FileNotFoundError, match="no complete set"):
        make_samples.fileset(tmp_path)
    assert make_samples.write_samples(tmp_path, "parquet", events=50)
    assert pq.read_metadata(tmp_path / PARQUET).num_rows == 50


def test_fileset_names_datasets_files_and_metadata(samples):
    physics = make_samples.fileset(samples, "physics")
    assert {name: len(entry["files"]) for name, entry in physics.items()} == {
        "ttbar": 2,
        "wjets": 1,
        "data": 1,
    }
    assert [entry["metadata"]["is_mc"] for entry in physics.values()] == [1, 1, 0]
    everything = make_samples.fileset(samples)
    assert set(everything) == {*physics, "ttbar_rntuple"}
    files = {str(samples / name): "Events" for name in (*TREES, RNTUPLE)}
    assert {f: t for e in everything.values() for f, t in e["files"].items()} == files


def test_command_line_prints_one_line_per_file(tmp_path):
    command = [sys.executable, EXAMPLES / "make_samples.py", tmp_path]
    command += ["--kind", "rntuple", "--events", "100"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    name, events, _, branches, *_, unit = result.stdout.split()
    assert (name, events, unit) == (RNTUPLE, "100", "MB")
    with uproot.open(tmp_path / RNTUPLE) as root:
        assert len(root["Events"].keys()) == int(branches)
