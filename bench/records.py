# SPDX-License-Identifier: BSD-3-Clause
"""Chunk records by the hundred: as they leave a worker and cross coffea's merging.

The two packages differ in what travels: 0.1.2 puts a dict into the output, we send
frames, one bytes object per chunk, in a list under one key beside it. Which of the two
a process does is asked in few places, first in sent(); between them both go the same
way, through coffea's own functions.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
from coffea.nanoevents import BaseSchema, NanoEventsFactory
from coffea.processor.executor import _compress, _decompress, _reduce

from cases import OUTPUT_KEY, Events, Processor, plain_on
from roastcoffea import (
    MetricsCollector,
    track_memory,
    track_metrics,
    track_time,
)
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics

try:
    from roastcoffea import _core, _probe
except ImportError:  # the reference, which is Python alone
    _core = _probe = None

Output = dict[str, Any]

FAN_IN = 20  # of coffea's tree reduction on Dask
LEVEL = 1  # of its lz4
BRANCHES = """
    Jet_pt Jet_eta Jet_phi Jet_mass Jet_jetId Jet_btagDeepFlavB nJet Muon_pt Muon_eta
    Muon_tightId nMuon Electron_pt Electron_eta Electron_cutBased nElectron GenPart_pt
    GenPart_pdgId nGenPart genWeight HLT_IsoMu24 HLT_Ele32_WPTight_Gsf MET_pt MET_phi
    Pileup_nTrueInt PV_npvs run luminosityBlock event Photon_pt nPhoton
""".split()
READ = 21  # of them are read
SECTIONS = ("object selection", "jets", "leptons", "event selection")
ROWS = 25  # events of a chunk: records do not depend on it
CHUNKS_PER_FILE = 1000

REFERENCE_RECORDS = 100_000  # a million of its dicts would fill the machine
OUR_RECORDS = 1_000_000  # the size of run that the goals are about

RUN_ID = bytes(range(1, 17))
ELSEWHERE = 1  # the process of a collector that is not this one


class Chunk(Events):
    """The events of one chunk among many, without a file behind them."""

    def __init__(self, number: int) -> None:
        super().__init__()
        file, part = divmod(number, CHUNKS_PER_FILE)
        self.metadata |= {
            "dataset": f"dataset_{file // 100}",
            "filename": f"root://host.example//store/nano/file_{file}.root",
            "entrystart": part * 100_000,
            "entrystop": (part + 1) * 100_000,
        }


class Analysis(Processor):
    """A chunk as analyses have them: seven sections, 21 of the branches read."""

    @track_metrics
    def process(self, events: Any) -> Output:
        for at, section in enumerate(SECTIONS):
            with track_time(self, section):
                for name in BRANCHES[at * 5 : at * 5 + 5]:
                    ak.sum(events[name])
        with track_time(self, "top candidate"), track_time(self, "observables"):
            ak.sum(events[BRANCHES[READ - 1]])
        with track_memory(self, "histograms"):
            return {"events": len(events), "cutflow": [len(events)]}


def write_file(path: Path, rows: int = ROWS) -> None:
    """So small that reading it does not take the time; every chunk is all of it."""
    values = np.random.default_rng(1).random(rows, np.float32)
    with uproot.recreate(path) as root:
        tree = root.mktree("Events", dict.fromkeys(BRANCHES, np.float32))
        tree.extend(dict.fromkeys(BRANCHES, values))


def events_of(file: Any, number: int) -> Any:
    """Events as coffea's Runner makes them, said to be those of a chunk."""
    return NanoEventsFactory.from_root(
        file=file,
        treepath="Events",
        schemaclass=BaseSchema,
        metadata=Chunk(number).metadata,
        access_log=[],
        mode="virtual",
    ).events()


def sent(
    processor: Any, events: Any, about: dict[str, Any], *, whole: bool
) -> list[Any]:
    """What one measured chunk sends to the client: a list, as it is merged. Ours is
    the frame of the chunk, or the whole attempt with its end."""
    if _probe is None:
        return list(processor.process(events)[OUTPUT_KEY])
    keys = "dataset filename treename fileuuid entrystart entrystop".split()
    item = tuple(about[key] for key in keys)
    _probe.attempt_begin(RUN_ID, ELSEWHERE, (), item)
    processor.process(events)
    frames = _probe.attempt_end(ELSEWHERE, (), None)
    return [frames if whole else _probe.read_frames(frames)[0].frame]


def sent_plain(number: int) -> list[Any]:
    """The same for a chunk of plain events without sections, which is quick."""
    events = Chunk(number)
    return sent(plain_on, events, events.metadata, whole=True)


def outputs(count: int) -> tuple[list[Output], list[Output]]:
    """The outputs of so many chunks of a file, with their records and without."""
    analysis = Analysis(collect=True)
    plain = [{"events": ROWS, "cutflow": [n % 7]} for n in range(count)]
    loaded = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.root"
        write_file(path)
        with uproot.open(path) as file:
            for number, output in enumerate(plain):
                events = events_of(file, number)
                records = sent(analysis, events, events.metadata, whole=False)
                loaded.append(output | {OUTPUT_KEY: records})
    return loaded, plain


def merge(outputs: Iterable[Output]) -> tuple[bytes, int]:
    """The merged output, packed, and the bytes that were sent over all hops."""
    packed = [_compress(output, LEVEL) for output in outputs]
    wire_bytes = sum(map(len, packed))
    reduce = _reduce(LEVEL)
    while len(packed) > 1:
        groups = range(0, len(packed), FAN_IN)
        packed = [reduce(packed[at : at + FAN_IN]) for at in groups]
        wire_bytes += sum(map(len, packed))
    return packed[0], wire_bytes


def write(folder: Path) -> int:
    """The records of a run as they reach the client, in a folder; how many."""
    if _core is None:
        outputs = ({OUTPUT_KEY: sent_plain(n)} for n in range(REFERENCE_RECORDS))
        (folder / "output").write_bytes(merge(outputs)[0])
        return REFERENCE_RECORDS
    with (folder / "0123456789abcdef.frames").open("wb") as spool:
        for number in range(OUR_RECORDS):
            spool.write(sent_plain(number)[0])
    return OUR_RECORDS


def take_in(folder: Path) -> Any:
    """What a client keeps of them: 0.1.2 of the merged output, we of the spool."""
    if _core is None:
        collector = MetricsCollector(object())
        output = _decompress((folder / "output").read_bytes())
        collector.extract_metrics_from_output(output)
        return collector
    run = _core.Run(0, 0)
    run.accept(RUN_ID)
    run.watch(0.0, ())
    run.read_from(str(folder))
    run.sync()
    return run


def aggregator(kept: Any) -> Callable[[], Any]:
    """What computes, of the records that were taken in, what 0.1.2 computes of them:
    counts, durations, memory and events, in all and per dataset."""
    if _core is None:
        return functools.partial(aggregate_chunk_metrics, kept.chunk_metrics)
    return functools.partial(kept.metrics, True)


def count_of(kept: Any) -> int:
    """How many records were taken in."""
    if _core is None:
        return len(kept.chunk_metrics)
    return int(kept.progress()["done"])
