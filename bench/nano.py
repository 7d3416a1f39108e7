# SPDX-License-Identifier: BSD-3-Clause
"""NanoAOD events of 1500 branches, and what measuring a chunk of them costs.

The tree is written once, with the examples' writer, into build/bench. Its events are
few: what is measured grows with branches, and a longer chunk would only hide it.
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import uproot
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory

from cases import OUTPUT_KEY, Processor, clock
from roastcoffea import track_metrics

ROOT = Path(__file__).parent.parent
TREE = "Events"
BRANCHES = 1500
ENTRIES = 1000
SEED = 1


def columns(samples: Any, about: dict[str, Any]) -> dict[str, Any]:
    """A cluster of the examples' ttbar, filled up with triggers, as real files are."""
    found: dict[str, Any] = samples.cluster(about, SEED, 0)
    rng = np.random.default_rng(SEED)
    for number in range(BRANCHES - len(found)):
        found[f"HLT_Path{number}"] = rng.random(ENTRIES, np.float32) < 0.02
    return found


def write(path: Path) -> None:
    sys.path.append(str(ROOT / "examples"))
    import make_samples

    about = {"kind": "physics", "process": "ttbar", "codec": "ZSTD"}
    about |= {"number": 0, "events": ENTRIES}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    make_samples.write_root(draft, about, iter([columns(make_samples, about)]))
    draft.replace(path)


def nano_file() -> Path:
    """The file; writing it takes ten seconds, which both sides need not spend."""
    path = ROOT / "build" / "bench" / f"nano_{BRANCHES}_{ENTRIES}_{SEED}.root"
    if not path.exists():
        write(path)
    return path


@functools.cache
def nano_events() -> Any:
    """Events as coffea's Runner makes them, built once: the file is known."""
    path = nano_file()
    file = uproot.open({str(path): None})
    metadata = {
        "dataset": "ttbar",
        "filename": str(path),
        "treename": TREE,
        "entrystart": 0,
        "entrystop": ENTRIES,
        "fileuuid": str(file.file.uuid),
    }
    return NanoEventsFactory.from_root(
        file=file,
        treepath=TREE,
        schemaclass=NanoAODSchema,
        metadata=metadata,
        access_log=[],
        mode="virtual",
        entry_start=0,
        entry_stop=ENTRIES,
    ).events()


class Nano(Processor):
    """A chunk that looks at two columns, decorated and not."""

    def bare(self, events: Any) -> dict[str, int]:
        return {"n": len(events.run) + len(events.genWeight)}

    @track_metrics
    def process(self, events: Any) -> dict[str, int]:
        return self.bare(events)


@functools.cache
def measured() -> Nano:
    """A processor whose first chunk of the file is over."""
    nano = Nano(collect=True)
    record = nano.process(nano_events())[OUTPUT_KEY][0]
    if record["num_events"] != ENTRIES:
        raise RuntimeError(f"{record['num_events']} events of {ENTRIES} were measured")
    return nano


def call_ns(function: Any, events: Any) -> int:
    start = clock()
    function(events)
    return clock() - start


def a3r(count: int) -> int:
    """Net of the bare call: both take turns. The median of the differences, because the
    first calls of a burst pay for code that has left the caches."""
    nano, events = measured(), nano_events()
    nets = [
        call_ns(nano.process, events) - call_ns(nano.bare, events) for _ in range(count)
    ]
    return round(statistics.median(nets) * count)


CASES = {"a3r": a3r}
