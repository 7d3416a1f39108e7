# SPDX-License-Identifier: BSD-3-Clause
"""Write NanoAOD-like sample files: TTree, RNTuple and parquet.

The files have what matters to a monitor in real NanoAOD: more than a thousand
branches, jagged collections with cross-references, several clusters, every codec.
Each variable alone looks like physics; variables are hardly correlated.
The same seed gives the same arrays (not the same bytes: ROOT stores dates and UUIDs),
and the kinds codecs, rntuple and parquet hold the same events.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import uproot

TREE = "Events"
MANIFEST = "samples.json"
CONTENT = 1  # raise it when the content changes: folders written before are replaced
CLUSTER = 10_000  # events per extend(): one basket per branch, or one row group
KINDS = ("all", "small", "physics", "codecs", "rntuple", "parquet", "large")
# Level 1 everywhere: a higher one makes LZMA slower than all other files together.
CODECS = {name: getattr(uproot, name.upper())(1) for name in "zlib lz4 lzma zstd".split()}

Columns = dict[str, Any]  # branch or collection name -> its array in one cluster


class Process(NamedTuple):
    """What distinguishes one physics process."""

    activity: float  # multiplies the mean number of objects
    bjets: float  # fraction of jets that are b-jets
    xsec: float | None  # pb; None for data
    hard: tuple[tuple[int, int], ...]  # (pdgId, mother) of the hard process


TOPS = ((6, -1), (-6, -1), (24, 0), (5, 0), (-24, 1), (-5, 1))
PROCESSES = {
    "ttbar": Process(1.4, 0.35, 831.8, (*TOPS, (-13, 2), (14, 2), (1, 4), (-2, 4))),
    "wjets": Process(0.8, 0.03, 61_500.0, ((24, -1), (-13, 0), (14, 0))),
    "data": Process(1.0, 0.08, None, ()),
}


class Shape(NamedTuple):
    """How many objects a collection has and what their momenta look like."""

    mean: float  # objects per event
    threshold: float  # GeV, smallest pT
    slope: float  # GeV, of the falling pT spectrum
    mass: float | None = None  # GeV; None where coffea's schema adds the mass
    pdg: int = 0  # gives charge and pdgId if not 0


SHAPES = {
    "Jet": Shape(4.0, 15, 40, 9),
    "FatJet": Shape(0.4, 170, 90, 60),
    "SubJet": Shape(0.8, 30, 60, 12),
    "Muon": Shape(0.5, 3, 22, 0.10566, 13),
    "Electron": Shape(0.5, 5, 22, 0.000511, 11),
    "LowPtElectron": Shape(0.3, 1, 4, 0.000511, 11),
    "Photon": Shape(0.8, 10, 20),
    "Tau": Shape(0.4, 18, 25, 0.9, 15),
    "FsrPhoton": Shape(0.05, 2, 5),
    "SV": Shape(1.2, 5, 15, 1.5),
    "GenPart": Shape(20.0, 1, 20, 0.14),
    "GenJet": Shape(4.0, 10, 40, 8),
    "GenJetAK8": Shape(0.4, 100, 90, 50),
    "GenVisTau": Shape(0.1, 10, 20, 0.9, 15),
}

# Collections (event, sim: one value per event; sim in simulation only), how values
# are drawn, names. Braces expand as in a shell; an index says what it points into.
FIELDS = """
Jet unit btag{DeepFlav,PNet,RobustParTAK4}{CvB,CvL,QG} btagPNetB qgl puIdDisc
Jet unit {chEm,chH,neEm,neH,mu}EF {PNet,UParT}Reg{Corr,Neutrino,Res}
Jet gauss muonSubtrFactor hfsigma{EtaEta,PhiPhi} {b,c}Reg{Corr,Res}
Jet small puId n{Electrons,Muons,SVs} hf{adjacent,central}EtaStripsSize
Jet index electronIdx{1,2}:Electron muonIdx{1,2}:Muon genJetIdx:GenJet
{FatJet,SubJet} unit tau{1,2,3,4} n{2,3}b1 lsf3 btag{DDBvLV2,DDCvBV2,DeepB,Hbb}
FatJet unit particleNet{,WithMass,MD}_{T,W,Z,H4q,Xbb,Xcc,Xqq}vsQCD
FatJet index subJetIdx{1,2}:SubJet genJetAK8Idx:GenJetAK8
{Jet,FatJet} unit area
{Jet,FatJet} gauss rawFactor massCorr
{Jet,FatJet} small jetId nConstituents n{B,C}Hadrons
{Muon,Electron,Photon} unit {pf,miniPF}RelIso{03,04}_{all,chg} jetRelIso jetPtRelv2
{Muon,Electron} unit mva{TTH,LowPt,Iso,NoIso}
{Muon,Electron,LowPtElectron,Tau} gauss d{xy,z}{,Err} ip3d sip3d
{Muon,Electron,Photon,Tau} small tightCharge cleanmask vidNestedWPBitmap seedGain
{Muon,Electron,Photon,Tau} index jetIdx:Jet genPartIdx:GenPart
Muon unit softMva segmentComp tkRelIso jetDF bsConstrainedChi2
Muon gauss ptErr tunepRelPt bsConstrainedPt{,Err} d{xy,z}bs
Muon small {pfIso,tkIso,highPt,puppiIso,multiIso}Id nStations nTrackerLayers
Muon flag {loose,medium,tight,soft,mediumPrompt,softMva}Id triggerIdLoose
Muon flag is{Global,PFcand,Tracker,Standalone} inTimeMuon highPurity
Muon index fsrPhotonIdx:FsrPhoton
{Electron,LowPtElectron,Photon} unit r9 sieie hoe dr03{EcalRecHit,HcalTower,Tk}SumEt
{Electron,LowPtElectron,Photon} gauss energyErr dE{sigma,scale}{Up,Down} {x,y,z}_calo
{Electron,LowPtElectron} gauss eInvMinusPInv deltaEtaSC fbrem scEtOverPt
{Electron,Photon} small cutBased lostHits
{Electron,Photon} flag convVeto isPFcand cutBased_HEEP mva{Iso,NoIso}_WP{80,90,L}
{LowPtElectron,Photon} index electronIdx:Electron
{Electron,LowPtElectron} index photonIdx:Photon
LowPtElectron index genPartIdx:GenPart
Tau unit rawDeepTau2018v2p5VS{e,jet,mu} rawPNetVS{e,jet,mu} probDM{0,1,2,10,11}PNet
Tau small decayMode{,PNet} idDeepTau2018v2p5VS{e,jet,mu} idDecayMode{New,Old}DMs
FsrPhoton index muonIdx:Muon
SV gauss dlen{,Sig} x y z chi2 pAngle
{GenJet,GenJetAK8} small hadronFlavour n{B,C}Hadrons
GenVisTau index genPartIdxMother:GenPart
event gev {MET,PuppiMET}_pt{JER,JES,Unclustered}{Up,Down} SoftActivityJetHT{,2,5,10}
event gev {,Raw}{MET,PuppiMET}_{pt,sumEt} {Tk,Chs,Calo}MET_{pt,sumEt}
event angle {,Raw}{MET,PuppiMET}_phi {Tk,Chs,Calo}MET_phi
event unit MET_{significance,covXX,covXY,covYY} Rho_fixedGrid{All,FastjetAll,Central}
event gauss PV_{x,y,z,chi2,ndof,score} BeamSpot_{z,sigmaZ}
event small PV_npvs{,Good} SoftActivityJetNjets{2,5,10}
event flag Flag_{goodVertices,METFilters,HBHENoiseFilter,BadPFMuonFilter,eeBadScFilter}
event trigger HLT_{Iso,}{Mu,TkMu}{17,20,24,27,50,100}{,_eta2p1,_TrkIsoVVL}
event trigger HLT_Ele{23,27,32,35,38,50,115}_{WPTight,WPLoose,CaloIdVT}_Gsf{,_L1EG}
event trigger HLT_{,AK8}PFJet{40,60,80,140,200,260,320,400,450,500}{,Fwd,_TrimMass30}
event trigger HLT_PFHT{180,250,370,430,510,590,680,780,890,1050}{,_PFMET100,_FourJet}
event trigger HLT_{PFMET,PFMETNoMu,CaloMET,MET}{90,105,120,200,250}{,_PFMHT,_HBHE}
event trigger HLT_{Double,Triple}{Photon,Mu,EG,Tau}{20,33,35,60,70,85}{,_Mass8,_Mass90}
event trigger L1_{Single,Double,Triple,Quad}{Mu,EG,Jet,Tau}{3,7,15,25,40,60}{,er1,er2}
sim gev LHE_{HT,HTIncoming,Vpt} GenMET_pt Generator_scalePDF
sim unit Generator_{x1,x2,xpdf1,xpdf2} Pileup_{nTrueInt,pudensity}
sim small LHE_{Njets,Nb,Nc,Nuds,Nglu} Pileup_nPU
"""
# Paths that examples select on: they fire for the object they are named after.
TRIGGERS = {"HLT_IsoMu24": "Muon", "HLT_Ele32_WPTight_Gsf": "Electron"}
WEIGHTS = {"LHEPdfWeight": 103, "LHEScaleWeight": 9, "PSWeight": 4}


def expand(word: str) -> list[str]:
    """The names a word with braces stands for: tau{1,2} is tau1 and tau2."""
    parts = re.split(r"\{(.*?)\}", word)
    return ["".join(name) for name in itertools.product(*(p.split(",") for p in parts))]


def field_table() -> dict[str, list[tuple[str, str]]]:
    """FIELDS as {collection: [(how, name), ...]}."""
    table = defaultdict(list)
    for line in FIELDS.strip().splitlines():
        collections, how, *words = line.split()
        names = [name for word in words for name in expand(word)]
        for collection in expand(collections):
            table[collection] += [(how, name) for name in names]
    return table


def draw(how: str, name: str, rng: np.random.Generator, size: int) -> np.ndarray:
    """Values of a field that depends on nothing else."""
    if how == "small":
        return rng.integers(0, 8, size, dtype=np.uint8)
    if how == "gauss":
        return rng.standard_normal(size, dtype=np.float32)
    if how == "gev":
        return 40 * rng.standard_exponential(size, dtype=np.float32)
    values = rng.random(size, dtype=np.float32)
    if how == "flag":
        return values < 0.8
    if how == "trigger":  # each path has its own rate, from rare to frequent
        return values < 10.0 ** -(1 + zlib.crc32(name.encode()) % 30 / 10)
    return 6.28 * values - 3.14 if how == "angle" else values


def jagged(counts: np.ndarray, fields: Columns | np.ndarray) -> ak.Array:
    """One array of lists; floats keep 10 bits of mantissa, as NanoAOD's do."""
