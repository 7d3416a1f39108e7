# SPDX-License-Identifier: BSD-3-Clause
"""Write NanoAOD-like files, and samples.json that lists them, into a folder.

They have what matters to a monitor in real NanoAOD: over a thousand branches, jagged
collections with cross-references, several clusters, every codec. Each variable alone
looks like physics; variables are hardly correlated. The same seed, the same arrays.
Kinds: all (physics, rntuple, parquet), small (all with 1000 events), physics (ttbar,
wjets, data), codecs (one set of events in each codec), large (100000 events in a file).
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
from coffea.nanoevents import NanoAODSchema

TREE = "Events"
MANIFEST = "samples.json"
CONTENT = 1  # raise it when the content changes: folders written before are replaced
CLUSTER = 5_000  # events per extend(): one basket per branch, or one row group
CODECS = ("ZSTD", "LZ4", "ZLIB", "LZMA")
KINDS = ("all", "small", "physics", "codecs", "rntuple", "parquet", "large")
EVENTS = {"small": 1_000, "large": 100_000}  # per file; 10 000 in other kinds
Columns = dict[str, Any]  # field or branch -> its NumPy or Awkward array
File = dict[str, Any]  # what is known of a file: its entry in the manifest
Rng = np.random.Generator
# Files written by default, factor on the number of objects, fraction of b-jets, cross
# section (pb; None: data), pdgIds (the mother of number n is number (n - 1) // 2).
PROCESSES = {
    "ttbar": (2, 1.4, 0.35, 831.8, (21, 6, -6, 24, 5, -24, -5, -13, 14, 211)),
    "wjets": (1, 0.8, 0.03, 61_500.0, (2, 24, 21, -13, 14, 211)),
    "data": (1, 1.0, 0.08, None, ()),
}
# Collection: objects per event, pT threshold and slope (GeV), mass (GeV; None where
# coffea's schema adds it), |pdgId| (0: neither charge nor pdgId).
SHAPES: dict[str, tuple[float, float, float, float | None, int]] = {
    "Jet": (4.0, 15, 40, 9, 0),
    "FatJet": (0.4, 170, 90, 60, 0),
    "SubJet": (0.8, 30, 60, 12, 0),
    "Muon": (0.5, 3, 22, 0.10566, 13),
    "Electron": (0.5, 5, 22, 0.000511, 11),
    "LowPtElectron": (0.3, 1, 4, 0.000511, 11),
    "Photon": (0.8, 10, 20, None, 0),
    "Tau": (0.4, 18, 25, 0.9, 15),
    "FsrPhoton": (0.05, 2, 5, None, 0),
    "GenPart": (20.0, 1, 20, 0.14, 0),
    "GenJet": (4.0, 10, 40, 8, 0),
    "GenJetAK8": (0.4, 100, 90, 50, 0),
    "GenVisTau": (0.1, 10, 20, 0.9, 15),
}
# Collections (event, sim: one value per event; sim in simulation only), how values
# are drawn, names. Braces expand as in a shell.
FIELDS = """
{Jet,FatJet,SubJet} unit area btag{DeepFlav,PNet,UParT}{B,CvB,CvL,QG} {chEm,neEm,mu}EF
{Jet,FatJet,SubJet} gauss rawFactor massCorr {b,c}Reg{Corr,Res}
{Jet,FatJet,SubJet} small jetId puId n{Constituents,Electrons,Muons,SVs,BHadrons}
{Muon,Electron,LowPtElectron,Photon,Tau} unit {pf,miniPF}RelIso{03,04}_{all,chg} r9 hoe
{Muon,Electron,LowPtElectron,Photon,Tau} gauss d{xy,z}{,Err} {,s}ip3d {pt,energy}Err
{Muon,Electron,Photon,Tau} small cutBased cleanmask seedGain nHits decayMode genPartFlav
{Muon,Electron,Photon,Tau} flag {loose,medium,tight}Id isPFcand highPurity
sim gev LHE_{HT,HTIncoming,Vpt} GenMET_pt Generator_{x1,x2,scalePDF} Pileup_nTrueInt
event gev {,Raw}{MET,PuppiMET}_{pt,sumEt} {MET,PuppiMET}_pt{JER,JES}{Up,Down}
event angle {,Raw}{MET,PuppiMET}_phi
event gauss PV_{x,y,z,chi2,ndof,score} MET_cov{XX,XY,YY} BeamSpot_{z,sigmaZ}
event small PV_npvs{,Good} SoftActivityJetNjets{2,5,10}
event flag Flag_{goodVertices,METFilters,HBHENoiseFilter,BadPFMuonFilter,eeBadScFilter}
event rare HLT_{,Iso}{Mu,Ele,Tau,Photon}{20,24,27,32,35,38,50,70}{,_WPTight_Gsf,_eta2p1}
event rare HLT_{,AK8}{PFJet,PFHT,DiJet}{40,60,80,140,200,260,320,400}{,_Mass30,_BTag}
event rare L1_{Single,Double,Triple,Quad}{Mu,EG,Jet,Tau}{3,5,7,15,25,40,60}{,er1,er2}
"""
# Paths that analyses select on: they fire for the object they are named after.
TRIGGERS = {"HLT_IsoMu24": "Muon", "HLT_Ele32_WPTight_Gsf": "Electron"}
WEIGHTS = {"LHEPdfWeight": 103, "LHEScaleWeight": 9, "PSWeight": 4}
DRAW: dict[str, Callable[[Rng, int], np.ndarray]] = {
    "unit": lambda rng, size: rng.random(size, np.float32),
    "angle": lambda rng, size: rng.uniform(-np.pi, np.pi, size),
    "gauss": lambda rng, size: rng.standard_normal(size, np.float32),
    "gev": lambda rng, size: rng.exponential(40, size),
    "small": lambda rng, size: rng.integers(0, 8, size, np.uint8),
    "flag": lambda rng, size: rng.random(size, np.float32) < 0.8,
    "rare": lambda rng, size: rng.random(size, np.float32) < 0.02,
}


def expand(word: str) -> list[str]:
    """The names a word with braces stands for: tau{1,2} is tau1 and tau2."""
    parts = re.split(r"\{(.*?)\}", word)
    return ["".join(name) for name in itertools.product(*(p.split(",") for p in parts))]


def fields_of(collection: str, size: int, rng: Rng, kind: str = "") -> Columns:
    """The fields that FIELDS lists for a collection."""
    columns = {}
    for line in FIELDS.strip().splitlines():
        collections, how, *words = line.split()
        # coffea looks at all RNTuple fields anew in each chunk, 2 s for a thousand: no
        # trigger bits there. They are drawn last, so all else stays the same.
        if (kind, how) != ("rntuple", "rare") and collection in expand(collections):
            for name in itertools.chain(*map(expand, words)):
                columns[name] = trimmed(DRAW[how](rng, size))
    return columns


def trimmed(values: np.ndarray) -> np.ndarray:
    """Floats with 10 bits of mantissa, as in NanoAOD, so that files compress alike."""
    if values.dtype.kind != "f":
        return values
    bits = values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32)


def objects(name: str, process: str, counts: Columns, rng: Rng) -> Columns:
    """All fields of a collection, flat: the objects of all events in a row."""
    _, threshold, slope, mass, pdg = SHAPES[name]
    event = np.repeat(np.arange(len(counts[name])), counts[name])
    size = len(event)
    fields = fields_of(name, size, rng)
    pt = threshold + rng.exponential(slope, size)
    fields["pt"] = pt[np.lexsort((-pt, event))]  # the leading object comes first
    fields |= {"eta": rng.normal(0, 1.5, size), "phi": DRAW["angle"](rng, size)}
    if mass is not None:
        fields["mass"] = np.full(size, mass) * (1 if pdg else rng.gamma(4, 0.25, size))
    if pdg:
        fields["charge"] = rng.choice(np.array([-1, 1], np.int32), size)
        fields["pdgId"] = -pdg * fields["charge"]
    if name == "Jet":
        is_b = rng.random(size) < PROCESSES[process][2]
        fields["btagDeepFlavB"] = rng.beta(np.where(is_b, 4, 0.5), np.where(is_b, 1, 6))
    if name == "GenPart":
        rank = np.arange(size) - (np.cumsum(counts[name]) - counts[name])[event]
        ids = np.array(PROCESSES[process][4], np.int32)
        fields["pdgId"] = ids[np.minimum(rank, len(ids) - 1)]
        fields["genPartIdxMother"] = ((rank - 1) // 2).astype(np.int16)
    for index, target in NanoAODSchema.all_cross_references.items():
        field = index.removeprefix(f"{name}_")
        if field != index and field not in fields and target in counts:
            there = counts[target][event]
            some = rng.integers(0, 2 * there + 1)  # half of them point to nothing
            fields[field] = np.where(some < there, some, -1).astype(np.int16)
    return fields


def cluster(file: File, seed: int, first: int) -> Columns:
    """All branches of one cluster, with counters (nJet) beside what they count."""
    _, activity, _, xsec, _ = PROCESSES[file["process"]]
    key = f"{seed} {file['process']} {file['number']} {first}"
    rng = np.random.default_rng(list(key.encode()))
    size = min(CLUSTER, file["events"] - first)
    entry = np.arange(first, first + size)
    columns: Columns = {
        "run": np.full(size, 1 if xsec else 320_000, np.uint32),
        "luminosityBlock": (1 + entry // 1000).astype(np.uint32),
        "event": (file["number"] * 10_000_000 + entry).astype(np.uint64),
    }
    names = [name for name in SHAPES if xsec or not name.startswith("Gen")]
    counts = {name: rng.poisson(SHAPES[name][0] * activity, size) for name in names}
    for name, count in counts.items():
        columns[f"n{name}"] = count.astype(np.int32)
        for field, values in objects(name, file["process"], counts, rng).items():
            columns[f"{name}_{field}"] = ak.unflatten(trimmed(values), count)
    if xsec:
        columns["genWeight"] = np.ones(size, np.float32)
        columns |= fields_of("sim", size, rng)
        for name, length in WEIGHTS.items():
            columns[f"n{name}"] = np.full(size, length, np.int32)
            weights = trimmed(rng.normal(1, 0.1, size * length))
            columns[name] = ak.unflatten(weights, columns[f"n{name}"])
    columns |= fields_of("event", size, rng, file["kind"])
    for path, name in TRIGGERS.items():
        columns[path] = ak.to_numpy(ak.any(columns[f"{name}_pt"] > 24, axis=1))
    return columns


def write_root(path: Path, file: File, content: Iterator[Columns]) -> int:
    """Write a TTree or an RNTuple; returns the number of branches."""
    with uproot.recreate(path, compression=getattr(uproot, file["codec"])(1)) as root:
        columns = next(content)
        if file["kind"] == "rntuple":
            tree = root.mkrntuple(TREE, columns)
        else:  # all branches of a collection share a counter: Jet_pt has nJet
            counters = {name: "n" + name.split("_")[0] for name in columns}
            tree = root.mktree(TREE, columns, counter_name=counters.get)
        for more in content:
            tree.extend(more)
    return len(columns)


def write_parquet(path: Path, file: File, content: Iterator[Columns]) -> int:
    """Write one row group per cluster; returns the number of columns."""
    events = ak.concatenate([ak.zip(columns, depth_limit=1) for columns in content])
    ak.to_parquet(events, path, extensionarray=False, row_group_size=CLUSTER)
    return len(events.fields)


def write_file(outdir: Path, seed: int, file: File) -> File:
    """Write one file, say so, and return its entry in the manifest."""
    path = outdir / file["name"]
    write = write_parquet if file["kind"] == "parquet" else write_root
    starts = range(0, file["events"], CLUSTER)
    branches = write(path, file, (cluster(file, seed, first) for first in starts))
    file |= {"branches": branches, "bytes": path.stat().st_size}
    what = "{name:22}{events:8} events{branches:6} branches".format(**file)
    print(f"{what}{file['bytes'] / 1e6:8.1f} MB", flush=True)
    return file


def plan(kind: str, events: int | None, files: int | None) -> Iterator[File]:
    """The files of a kind; None stands for the default number."""
    physics = [f"{p}_{i}" for p in PROCESSES for i in range(files or PROCESSES[p][0])]
    stems = {"physics": physics, "codecs": ["ttbar"] * len(CODECS)}
    every = ("physics", "rntuple", "parquet")
    for known in every if kind in ("all", "small") else (kind,):
        for i, stem in enumerate(stems.get(known, ["ttbar"])):
            codec, process = CODECS[i % len(CODECS)], stem.split("_")[0]
            name = f"{stem}_{codec.lower() if known in stems else known}"
            file: File = {"kind": known, "process": process, "codec": codec}
            file["name"] = f"{name}.{'parquet' if known == 'parquet' else 'root'}"
            file["dataset"] = process if known == "physics" else name
            # The same events in all kinds but physics, to compare codecs and formats.
            file["number"] = i if known == "physics" else 1000
            file["events"] = events or EVENTS.get(kind, 10_000)
            yield file


def read_manifest(outdir: str | Path) -> dict[str, Any] | None:
    """The manifest of a folder, or None unless every file it lists is there in full."""
    try:
        manifest: dict[str, Any] = json.loads(Path(outdir, MANIFEST).read_text())
        sizes = [Path(outdir, f["name"]).stat().st_size for f in manifest["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest if sizes == [f["bytes"] for f in manifest["files"]] else None


def write_samples(
    outdir: str | Path,
    kind: str = "all",
    events: int | None = None,
    files: int | None = None,
    seed: int = 1,
) -> bool:
    """Write a set of files; False if just this set is there already."""
    outdir = Path(outdir)
    options = [CONTENT, kind, events, files, seed]
    if (manifest := read_manifest(outdir)) and manifest["options"] == options:
        print(f"{outdir}: {len(manifest['files'])} files are there, nothing written")
        return False
    outdir.mkdir(parents=True, exist_ok=True)
    (outdir / MANIFEST).unlink(missing_ok=True)  # incomplete from here to the end
    todo = list(plan(kind, events, files))
    # All cores: uproot's mktree is quadratic in the branches, 5 s for a thousand.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        spread = pool.map if len(todo) > 1 else map
        written = list(spread(partial(write_file, outdir, seed), todo))
    draft = outdir / f"{MANIFEST}.part"
    draft.write_text(json.dumps({"options": options, "files": written}, indent=1))
    draft.replace(outdir / MANIFEST)
    return True


def fileset(outdir: str | Path, kind: str | None = None) -> dict[str, Any]:
    """What was written, for coffea; parquet only if asked: it needs its own Runner."""
    manifest = read_manifest(outdir)
    if manifest is None:
        raise FileNotFoundError(f"no complete set of samples in {outdir}")
    datasets: dict[str, Any] = {}
    for file in manifest["files"]:
        if file["kind"] == kind or (kind is None and file["kind"] != "parquet"):
            xsec = PROCESSES[file["process"]][3]
            new = {"files": {}, "metadata": {"is_mc": xsec is not None, "xsec": xsec}}
            path = Path(outdir, file["name"]).resolve()
            datasets.setdefault(file["dataset"], new)["files"][str(path)] = TREE
    return datasets


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outdir", type=Path, metavar="OUTDIR")
    parser.add_argument("--kind", choices=KINDS, default="all", help="default: all")
    parser.add_argument("--events", type=int, help="per file, default: 10000")
    parser.add_argument("--files", type=int, help="per dataset, default: 2 of ttbar, 1")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    write_samples(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
