# SPDX-License-Identifier: BSD-3-Clause
"""Run the ttbar example in this process and print what was measured.

    python examples/run_example.py [SAMPLES]

Writes sample files into SAMPLES (default build/samples) if there are none. No collector
takes part: the chunk records are read straight from the output, to show what one
record holds and that it agrees with coffea's own report.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from coffea import processor
from coffea.nanoevents import NanoAODSchema

from make_samples import fileset, read_manifest, write_samples
from ttbar import TtbarProcessor

CHUNKSIZE = 5_000
Record = Mapping[str, Any]

CHUNK_LINE = "{:8} {:20} {:>15} {:>7} {:>8} {:>8} {:>9} {:>8}"
SECTION_LINE = "{:36} {:>6} {:>9} {:>9}"


def show(value: float | None, unit: str = "", digits: int = 3) -> str:
    """A number with its unit, or a dash for what was not measured."""
    return "-" if value is None else f"{value:.{digits}f}{unit}"


def total(records: Iterable[Record], key: str) -> float:
    """Sum of a field over the records that have it."""
    return sum(record.get(key) or 0 for record in records)


def peak(record: Record) -> str:
    """The highest memory; with a tilde where it was sampled and may be higher."""
    mark = "~" if record.get("mem_peak_kind") == "sampled" else ""
    return mark + show(record.get("mem_peak_mb"), "", 0)


def print_chunks(records: list[Record]) -> None:
    """One line per chunk."""
    head = ("dataset", "file", "entries", "events", "wall", "cpu", "memory", "peak")
    print(CHUNK_LINE.format(*head))
    for record in records:
        entries = f"{record.get('entry_start', '-')}-{record.get('entry_stop', '-')}"
        line = CHUNK_LINE.format(
            record.get("dataset", "-"),
            Path(record.get("file") or "-").name,
            entries,
            record.get("num_events", "-"),
            show(record.get("duration"), " s"),
            show(record.get("cpu_time"), " s"),
            show(record.get("mem_delta_mb"), "", 1),
            peak(record),
        )
        print(line)
    print("wall and cpu of process(); change and peak (~ sampled) of memory in MiB")


def print_sections(records: list[Record]) -> None:
    """Time in each section, summed over chunks; a section includes those inside it."""
    sums: dict[tuple[str, int], list[float]] = {}
    for record in records:
        for section in record.get("sections") or ():
            place = (section.get("section_name", "-"), section.get("depth", 0))
            entry = sums.setdefault(place, [0, 0.0])
            entry[0] += section.get("count", 1)
            entry[1] += section.get("time_delta") or 0
    inside = total(records, "duration")
    print("\n" + SECTION_LINE.format("section", "calls", "total", "share"))
    for (name, depth), (calls, seconds) in sums.items():
        share = show(100 * seconds / inside if inside else None, " %", 1)
        label = "  " * depth + name
        print(SECTION_LINE.format(label, calls, show(seconds, " s"), share))
    for name in {name: None for r in records for name in r.get("memory") or ()}:
        change = sum((r.get("memory") or {}).get(name) or 0 for r in records)
        print(f"memory of {name!r}: {change:+.1f} MiB")


def check(records: list[Record], report: Mapping[str, Any]) -> bool:
    """Compare with coffea's own numbers for the same chunks."""
    events, entries = total(records, "num_events"), report["entries"]
    inside, processtime = total(records, "duration"), report["processtime"]
    times_agree = abs(processtime - inside) < 0.05 * processtime
    print(f"\nevents     {events} measured, {entries} in coffea's report")
    print(f"process()  {inside:.3f} s measured, {processtime:.3f} s in coffea's report")
    agree = bool(events == entries and times_agree)
    print("They agree." if agree else "They DIFFER.")
    return agree


def main() -> int:
    """Run the example; the exit status says whether the numbers agree."""
    samples = Path(sys.argv[1] if len(sys.argv) > 1 else "build/samples")
    if read_manifest(samples) is None:
        write_samples(samples)

    runner = processor.Runner(
        executor=processor.IterativeExecutor(),
        schema=NanoAODSchema,
        savemetrics=True,
        chunksize=CHUNKSIZE,
    )
    analysis = TtbarProcessor()
    analysis._roastcoffea_collect_metrics = True  # a MetricsCollector does this itself

    start = time.perf_counter()
    output, report = runner(fileset(samples, "physics"), processor_instance=analysis)
    elapsed = time.perf_counter() - start
    records = output.pop("__roastcoffea_metrics__", [])

    print_chunks(records)
    print_sections(records)
    agree = check(records, report)
    inside = total(records, "duration")
    print(
        f"The run took {elapsed:.1f} s, {inside:.1f} s of it inside process(): opening "
        "files and building\nNanoEvents from a thousand branches happens outside."
    )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
