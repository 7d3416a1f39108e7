# SPDX-License-Identifier: BSD-3-Clause
"""A small top-quark pair analysis, instrumented with roastcoffea.

Lepton + jets channel: one isolated muon or electron, four jets, at least one b-tag.
The top candidate is the three-jet system with the largest pT. What roastcoffea adds is
the decorator of process() and the `with track_...` lines; without a collector they do
nothing, so the same file serves for production and for measuring.
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import hist
import numpy as np
from coffea import processor

from roastcoffea import track_memory, track_metrics, track_section, track_time

BTAG_MEDIUM = 0.2783


class TtbarProcessor(processor.ProcessorABC):
    """Cut flow and three histograms per dataset."""

    @track_metrics
    def process(self, events: ak.Array) -> dict[str, Any]:
        dataset = events.metadata["dataset"]

        with track_section(self, "object selection"):
            with track_section(self, "jets"):
                jets = self.select_jets(events)
                bjets = jets[jets.btagDeepFlavB > BTAG_MEDIUM]
            with track_section(self, "leptons"):
                muons, electrons = self.select_leptons(events)

        with track_section(self, "event selection"):
            trigger = events.HLT.IsoMu24 | events.HLT.Ele32_WPTight_Gsf
            one_lepton = ak.num(muons) + ak.num(electrons) == 1
            enough_jets = (ak.num(jets) >= 4) & (ak.num(bjets) >= 1)
            selected = trigger & one_lepton & enough_jets
            jets, bjets = jets[selected], bjets[selected]

        with track_section(self, "observables"):
            weight = self.event_weight(events[selected])
            with track_time(self, "top candidate"):
                top_mass = self.top_candidate(jets).mass

        with track_memory(self, "histograms"):
            hists = self.histograms()
            hists["jet_pt"].fill(
                dataset, ak.flatten(jets.pt), weight=spread(weight, jets)
            )
            hists["n_bjets"].fill(dataset, ak.num(bjets), weight=weight)
            hists["top_mass"].fill(dataset, top_mass, weight=weight)

        counts = {"events": len(events), "selected": int(ak.sum(selected))}
        return {dataset: counts, "hists": hists}

    def postprocess(self, accumulator: dict[str, Any]) -> dict[str, Any]:
        return accumulator

    def select_jets(self, events: ak.Array) -> ak.Array:
        jets = events.Jet
        return jets[(jets.pt > 30) & (abs(jets.eta) < 2.4) & (jets.jetId > 0)]

    def select_leptons(self, events: ak.Array) -> tuple[ak.Array, ak.Array]:
        mu, el = events.Muon, events.Electron
        muons = mu[(mu.pt > 26) & (abs(mu.eta) < 2.4) & mu.tightId]
        electrons = el[(el.pt > 34) & (abs(el.eta) < 2.5) & (el.cutBased >= 4)]
        return muons, electrons

    def event_weight(self, events: ak.Array) -> ak.Array:
        """1 for data; generator weight and top-pT correction for simulation."""
        if "genWeight" not in events.fields:
            return ak.ones_like(events.run, dtype=np.float64)
        # Data have softer tops than the simulation (CMS-TOP-16-008); events without
        # top quarks have an empty product, which is 1.
        tops = events.GenPart[abs(events.GenPart.pdgId) == 6]
        correction = np.sqrt(ak.prod(np.exp(0.0615 - 0.0005 * tops.pt), axis=1))
        return events.genWeight * correction

    def top_candidate(self, jets: ak.Array) -> ak.Array:
        """The three-jet system with the largest transverse momentum."""
        j1, j2, j3 = ak.unzip(ak.combinations(jets, 3))
        trijets = j1 + j2 + j3
        return ak.firsts(trijets[ak.argmax(trijets.pt, axis=1, keepdims=True)])

    def histograms(self) -> dict[str, Any]:
        """Empty histograms; coffea adds those of all chunks."""
        new = hist.Hist.new.StrCat([], growth=True, name="dataset")
        return {
            "jet_pt": new.Reg(50, 0, 500, name="pt", label="jet pT [GeV]").Weight(),
            "n_bjets": new.Int(0, 8, name="n", label="b-jets").Weight(),
            "top_mass": new.Reg(50, 0, 1000, name="m", label="m(jjj) [GeV]").Weight(),
        }


def spread(weight: ak.Array, objects: ak.Array) -> ak.Array:
    """The event weight once for each object of the event."""
    return ak.flatten(ak.broadcast_arrays(weight, objects.pt)[0])
