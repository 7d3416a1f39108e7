# SPDX-License-Identifier: BSD-3-Clause
"""The files of examples/make_samples.py, read as users read them: through coffea.

All branches, but few events: of the set that other tests use, too. A set with every
codec and two clusters per file, so that coffea's chunks cross a cluster border, takes
half a minute to write.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

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

RNTUPLE = "ttbar_rntuple.root"
PARQUET = "ttbar_parquet.parquet"


class Samples(NamedTuple):
    """A set of files, and the arguments that it was written with."""

    folder: Path
    events: int
    files: int | None

    @property
    def trees(self):
        """{name: codec}"""
        planned = make_samples.plan("physics", self.events, self.files)
        return {file["name"]: file["codec"] for file in planned}


@pytest.fixture(
    scope="module", params=["few", pytest.param("many", marks=pytest.mark.long)]
)
def samples(request, tmp_path_factory):
    if request.param == "few":
        return Samples(request.getfixturevalue("nano_folder"), 1000, 1)
    folder = tmp_path_factory.mktemp("samples")
    assert make_samples.write_samples(folder, "all", events=6000)
    return Samples(folder, 6000, None)


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


def run_coffea(path, events, **options):
    runner = processor.Runner(
        executor=processor.IterativeExecutor(),
        schema=NanoAODSchema,
        chunksize=events // 2,
        **options,
    )
    with warnings.catch_warnings():
        # what the schema says about a cross-reference that leads nowhere
        warnings.simplefilter("error", RuntimeWarning)
        output = runner({"x": {"files": {str(path): "Events"}}}, nano_facts)
    output["x"]["matched pt"] = pytest.approx(output["x"]["matched pt"], rel=1e-5)
    return output["x"]


def test_coffea_reads_what_was_written(samples):
    for name in (*samples.trees, RNTUPLE, PARQUET):
        form = "parquet" if name == PARQUET else "root"
        expected = raw_facts(samples.folder / name)
        assert expected["events"] == samples.events
        assert ("W from top" in expected) == (not name.startswith("data"))
        read = run_coffea(samples.folder / name, samples.events, format=form)
        assert read == expected, name


def test_tree_has_the_codec_of_its_name(samples):
    for name, codec in samples.trees.items():
        assert codec.lower() in name
        with uproot.open(samples.folder / name) as root:
            assert type(root.file.compression).__name__ == codec
            # uproot writes no codec into branches: ask the baskets themselves
            for branch in ("Jet_pt", "event", "HLT_IsoMu24"):
                blocks = root["Events"][branch].basket(0).block_compression_info
                assert {block[0] for block in blocks} == {codec}


def test_tree_has_a_thousand_branches_and_clusters(samples):
    borders = [*range(0, samples.events, make_samples.CLUSTER), samples.events]
    for name in samples.trees:
        with uproot.open(samples.folder / name) as root:
            tree = root["Events"]
            keys = tree.keys()
            assert len(keys) > 1000
            assert tree.common_entry_offsets() == borders
            assert sum(key.startswith("HLT_") for key in keys) > 300
            assert any(key.startswith("Gen") for key in keys) == ("data" not in name)


def test_formats_hold_the_same_events(samples):
    with uproot.open(samples.folder / RNTUPLE) as root:
        fields = root["Events"].arrays(["event", "Jet_pt", "GenPart_pdgId"])
    table = pq.read_table(samples.folder / PARQUET)
    for name in fields.fields:
        assert ak.array_equal(fields[name], ak.from_arrow(table[name])), name


def test_files_differ_in_uuid(samples):
    """coffea distinguishes files by it."""
    names = (*samples.trees, RNTUPLE)
    assert len({uproot.open(samples.folder / n).file.uuid for n in names}) == len(names)


def test_tree_holds_what_the_seed_documents(samples):
    planned = make_samples.plan("physics", samples.events, samples.files)
    (wjets,) = (file for file in planned if file["process"] == "wjets")
    starts = range(0, samples.events, make_samples.CLUSTER)
    expected = [make_samples.cluster(wjets, 1, first) for first in starts]
    with uproot.open(samples.folder / wjets["name"]) as root:
        arrays = root["Events"].arrays(list(expected[0]), how=dict)
    for name, array in arrays.items():
        written = ak.concatenate([columns[name] for columns in expected])
        assert ak.array_equal(array, written), name


def test_second_write_gives_the_same_arrays(samples, tmp_path):
    make_samples.write_samples(tmp_path, "parquet", samples.events)
    again = pq.read_table(tmp_path / PARQUET)
    assert again.equals(pq.read_table(samples.folder / PARQUET))


def test_every_file_and_seed_has_events_of_its_own():
    todo = list(make_samples.plan("physics", 100, 2))
    drawn = [make_samples.cluster(file, seed, 0) for file in todo for seed in (1, 2)]
    assert len({tuple(columns["MET_pt"]) for columns in drawn}) == 12


def test_second_call_writes_nothing_and_reports_it(samples, capsys):
    folder, events, files = samples
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not make_samples.write_samples(folder, "all", events=events, files=files)
    assert "nothing written" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_damaged_folder_is_seen_and_rewritten(tmp_path):
    make_samples.write_samples(tmp_path, "parquet", events=50)
    (tmp_path / PARQUET).write_bytes(b"PAR1")
    with pytest.raises(FileNotFoundError, match="no complete set"):
        make_samples.fileset(tmp_path)
    assert make_samples.write_samples(tmp_path, "parquet", events=50)
    assert pq.read_metadata(tmp_path / PARQUET).num_rows == 50


def test_fileset_names_datasets_files_and_metadata(samples):
    folder = samples.folder
    physics = make_samples.fileset(folder, "physics")
    assert {name: len(entry["files"]) for name, entry in physics.items()} == {
        "ttbar": samples.files or 2,
        "wjets": 1,
        "data": 1,
    }
    assert [entry["metadata"]["is_mc"] for entry in physics.values()] == [1, 1, 0]
    everything = make_samples.fileset(folder)
    assert set(everything) == {*physics, "ttbar_rntuple"}
    files = {str(folder / name): "Events" for name in (*samples.trees, RNTUPLE)}
    assert {f: t for e in everything.values() for f, t in e["files"].items()} == files


def test_command_line_prints_one_line_per_file(tmp_path):
    command = [sys.executable, EXAMPLES / "make_samples.py", tmp_path]
    command += ["--kind", "rntuple", "--events", "100"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    name, events, _, branches, *_, unit = result.stdout.split()
    assert (name, events, unit) == (RNTUPLE, "100", "MB")
    with uproot.open(tmp_path / RNTUPLE) as root:
        assert len(root["Events"].keys()) == int(branches)
