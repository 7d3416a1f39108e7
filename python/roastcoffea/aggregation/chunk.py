# SPDX-License-Identifier: BSD-3-Clause
"""Chunk records as statistics, and when each chunk ran.

A chunk failed when it carries an ``error`` or its ``status`` says so; failed ones are
counted and otherwise left out. A value that is None or missing is left out too: our own
records leave out what could not be measured, where 0.1.2 always had a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

__all__ = ["aggregate_chunk_metrics", "build_chunk_info"]

Record = Mapping[str, Any]


def known(records: Iterable[Record], key: str) -> list[Any]:
    """The values of a key in those records that have one."""
    return [value for record in records if (value := record.get(key)) is not None]


def aggregate_chunk_metrics(
    chunk_metrics: Iterable[Record] | None,
    section_metrics: Iterable[Record] | None = None,
) -> dict[str, Any]:
    """Counts, durations, memory and events; per dataset and per section."""
    from roastcoffea import _core

    chunks = list(chunk_metrics) if chunk_metrics is not None else []
    done = [
        chunk
        for chunk in chunks
        if chunk.get("error") is None and chunk.get("status") != "failed"
    ]
    metrics: dict[str, Any] = {"num_chunks": len(chunks)}
    if not chunks:
        return metrics
    metrics["num_successful_chunks"] = len(done)
    metrics["num_failed_chunks"] = len(chunks) - len(done)
    if not done:
        return metrics
    for name, unit, key in (
        ("chunk_duration", "", "duration"),
        ("chunk_mem_delta", "_mb", "mem_delta_mb"),
    ):
        found = _core.statistics(known(done, key))
        if found["count"]:
            for part in ("mean", "min", "max", "std"):
                metrics[f"{name}_{part}{unit}"] = found[part]
    events = _core.statistics(known(done, "num_events"))
    if events["count"]:
        metrics["total_events_from_chunks"] = events["total"]
        for part in ("mean", "min", "max"):
            metrics[f"chunk_events_{part}"] = events[part]
    datasets: dict[Any, list[Record]] = {}
    for chunk in done:
        name = _first(chunk, "dataset")
        datasets.setdefault("unknown" if name is None else name, []).append(chunk)
    metrics["per_dataset"] = {name: _dataset(rows) for name, rows in datasets.items()}
    if sections := aggregate_sections(section_metrics or ()):
        metrics["sections"] = sections
    return metrics


def _dataset(chunks: list[Record]) -> dict[str, Any]:
    """Totals and means of one dataset; a chunk without events counts as 0 of them."""
    from roastcoffea import _core

    seconds = _core.statistics(known(chunks, "duration"))
    events = _core.statistics([chunk.get("num_events") or 0 for chunk in chunks])
    row = {
        "num_chunks": len(chunks),
        "total_duration": seconds["total"],
        "total_events": events["total"],
        "mean_duration": seconds["mean"],
    }
    if events["total"] > 0:
        row["mean_events_per_chunk"] = events["mean"]
    return row


def aggregate_sections(sections: Iterable[Record]) -> dict[Any, dict[str, Any]]:
    """Statistics by name of hand-made sections, which say name and duration (0.1.2) or
    section_name and time_delta; one without a time, or with one that is no number,
    counts as 0 seconds."""
    from roastcoffea import _core

    groups: dict[Any, list[Record]] = {}
    for section in sections:
        name = _first(section, "name", "section_name")
        name = "unknown" if name is None else name
        groups.setdefault(name if _is_key(name) else str(name), []).append(section)
    found = {}
    for name, rows in groups.items():
        seconds = _core.statistics(
            [_real(_first(row, "duration", "time_delta")) or 0.0 for row in rows]
        )
        found[name] = {
            "count": len(rows),
            "total_duration": seconds["total"],
            "type": _first(rows[0], "type") or "section",
            "mean_duration": seconds["mean"],
        }
        measured = [row for row in rows if row.get("type") == "memory"]
        deltas = [_real(row.get("mem_delta_mb")) for row in measured]
        memory = _core.statistics([delta for delta in deltas if delta is not None])
        if memory["count"]:
            for part in ("mean", "max", "min"):
                found[name][f"{part}_mem_delta_mb"] = memory[part]
    return found


def build_chunk_info(
    chunk_metrics: Iterable[Record],
) -> dict[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """{(file, entry_start, entry_stop): (t_start, t_end, bytes_read)}.

    Records that lack one of these, bytes apart, or whose file is no name, are left out.
    """
    info = {}
    for chunk in chunk_metrics:
        file = _first(chunk, "file", "filename")
        place = file, chunk.get("entry_start"), chunk.get("entry_stop")
        t_start, t_end = chunk.get("t_start"), chunk.get("t_end")
        if None not in (*place, t_start, t_end) and _is_key(place):
            info[place] = t_start, t_end, chunk.get("bytes_read", 0)
    return info


def _first(record: Record, *keys: str) -> Any:
    """The value of the first key that has one, or None."""
    return next((v for key in keys if (v := record.get(key)) is not None), None)


def _is_key(value: Any) -> bool:
    """Whether a dict can have it: values may come from anywhere."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _real(value: Any) -> float | None:
    """A number that can be added up; None for anything else."""
    try:
        return float(value) if isinstance(value, Real) else None
    except OverflowError:
        return None
