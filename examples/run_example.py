# SPDX-License-Identifier: BSD-3-Clause
"""Run the ttbar example under the collector and print what was measured.

    python examples/run_example.py [SAMPLES] [WORKERS]

Writes sample files into SAMPLES (default build/samples) if there are none, and runs the
analysis in WORKERS processes (default 2; 0: in this one). At the end the numbers are
compared with coffea's own report.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coffea import processor
from coffea.nanoevents import NanoAODSchema

import roastcoffea
from make_samples import fileset, read_manifest, write_samples
from ttbar import TtbarProcessor

CHUNKSIZE = 5_000


def executor(workers: int) -> Any:
    if workers == 0:
        return processor.IterativeExecutor()
    return processor.FuturesExecutor(workers=workers)


def check(metrics: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Compare what the chunks say with coffea's own numbers for the same run."""
    datasets = metrics["per_dataset"].values()
    inside = sum(dataset["total_duration"] for dataset in datasets)
    rows = [
        ("events", metrics["total_events_from_chunks"], report["entries"], 0),
        ("bytes read", sum(d["total_bytes"] for d in datasets), report["bytesread"], 0),
        ("process(), s", inside, report["processtime"], 0.05 * report["processtime"]),
    ]
    print(f"{'':14}{'our chunks':>14}{'coffea':>14}")
    agree = True
    for name, ours, coffeas, tolerance in rows:
        print(f"{name:14}{ours:14.10g}{coffeas:14.10g}")
        agree = agree and abs(ours - coffeas) <= tolerance
    print("They agree." if agree else "They DIFFER.")
    return agree


def main() -> int:
    """Run the example; the exit status says whether the numbers agree."""
    samples = Path(sys.argv[1] if len(sys.argv) > 1 else "build/samples")
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    if read_manifest(samples) is None:
        write_samples(samples)
    runner = processor.Runner(
        executor=executor(workers),
        schema=NanoAODSchema,
        savemetrics=True,
        chunksize=CHUNKSIZE,
    )

    with roastcoffea.monitor() as run:
        _, report = runner(fileset(samples, "physics"), TtbarProcessor())

    run.print_summary()
    return 0 if check(run.get_metrics(), report) else 1


if __name__ == "__main__":
    sys.exit(main())
