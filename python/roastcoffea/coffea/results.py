# SPDX-License-Identifier: BSD-3-Clause
"""Reads coffea's objects: results, reports, work items, executors, filesets.

Returns plain values; an object of an unknown form gives no value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from roastcoffea.aggregation.workflow import aggregate_workflow_metrics
from roastcoffea.backends.base import is_instance
from roastcoffea.backends.registry import kind_of

WRAPPED = " The error was: "  # in coffea's message


def is_result(result: Any) -> bool:
    """Whether it is coffea's ``Ok`` or ``Err``."""
    return hasattr(result, "is_ok") and hasattr(result, "unwrap")


def unwrap(result: Any) -> Any:
    """The value of coffea's ``Ok`` or ``Err`` (a partial one), or the object itself."""
    return getattr(result, "value", None) if is_result(result) else result


def error_of(result: Any) -> BaseException | None:
    """The exception in coffea's ``Err``."""
    error = getattr(result, "exception", None) if is_result(result) else None
    return error if isinstance(error, BaseException) else None


def text_of(error: BaseException) -> str:
    """The innermost cause: coffea wraps the exception of a chunk."""
    for _ in range(100):  # `raise e from e` is its own cause
        if error.__cause__ is None:
            break
        error = error.__cause__
    try:
        message = str(error)
    except Exception:
        message = ""
    if type(error) is Exception and WRAPPED in message:  # a worker's: the cause is lost
        return message.rpartition(WRAPPED)[2].removesuffix(".")
    return f"{type(error).__name__}: {message}"


def report_of(result: Any) -> Mapping[str, Any] | None:
    """The report in a report, in ``(output, report)`` or in an Ok or Err of them."""
    result = unwrap(result)
    if isinstance(result, tuple) and len(result) == 2:
        result = result[1]
    return result if isinstance(result, Mapping) else None


def numbers_of(report: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a report, under the names of the run's facts."""
    names = {
        "entries": "report_events",
        "bytesread": "report_bytes",
        "processtime": "report_process_seconds",
        "chunks": "report_chunks",
    }
    numbers = {}
    for key, fact in names.items():
        try:
            number = float(report[key])
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if 0 <= number < math.inf:
            numbers[fact] = number
    return numbers


def numbers_of_custom(custom: Mapping[str, Any]) -> dict[str, float]:
    """Totals of 0.1.2's {dataset: {"entries", "duration", "performance_counters"}},
    under the names of the run's facts; {} for dicts of another form."""
    if not any(
        isinstance(row, Mapping) and "entries" in row for row in custom.values()
    ):
        return {}
    totals = aggregate_workflow_metrics({}, 0.0, 1.0, custom)
    names = {
        "total_events": "report_events",
        "total_bytes_read": "report_bytes",
        "total_cpu_time": "report_process_seconds",
    }
    return {fact: totals[key] for key, fact in names.items() if totals.get(key)}


def processed_of(wrapped: Mapping[str, Any]) -> tuple[int, int] | None:
    """(chunks, events) of the work items that coffea lists as processed."""
    items = wrapped.get("processed")
    if not isinstance(items, Iterable):
        return None
    try:
        lengths = [int(item.entrystop - item.entrystart) for item in items]
    except (AttributeError, TypeError, ValueError):  # not the items we know
        return None
    return len(lengths), sum(lengths)


def names_of(fileset: Any) -> set[str]:
    """Datasets and files of a fileset, or of a collection of work items."""
    names = set()
    if isinstance(fileset, Mapping):
        for dataset, entry in fileset.items():
            names.add(str(dataset))
            files = entry.get("files", ()) if isinstance(entry, Mapping) else entry
            names.update(map(str, files))
    elif isinstance(fileset, (list, tuple, set, frozenset)):
        for item in fileset:
            names.add(str(getattr(item, "dataset", "")))
            names.add(str(getattr(item, "filename", "")))
    return names


class Offer(NamedTuple):
    """What an executor offers, as known before it runs."""

    workers: int | None
    text: str
    in_process: bool
    is_local: bool  # its workers are processes of this machine, as far as is known


def is_iterative(executor: Any) -> bool:
    """Whether chunks run one by one in this process."""
    return is_instance(executor, "coffea.processor.executor", "IterativeExecutor")


def cluster_text(numbers: Mapping[str, Any]) -> str:
    """A cluster of Dask in words: the most workers it had, and their threads."""
    workers, threads = numbers.get("peak_workers"), numbers.get("cores_per_worker")
    if not workers or not threads:
        return "Dask"
    each = f"{threads:.3g} thread{'' if threads == 1 else 's'}"
    return f"Dask, {workers:.0f} worker{'' if workers == 1 else 's'} x {each}"


def offer_of(executor: Any) -> Offer:
    """The workers of a coffea executor; one thread each."""
    kind = type(executor).__name__.removesuffix("Executor")
    is_local = kind_of(executor).is_local
    if is_iterative(executor):
        return Offer(1, f"{kind}, 1 worker", True, is_local)
    pool = getattr(executor, "pool", None)
    workers = getattr(pool, "_max_workers", getattr(executor, "workers", None))
    if not isinstance(workers, int) or not is_local:
        return Offer(None, kind, False, is_local)
    noun = "worker" if workers == 1 else "workers"
    return Offer(workers, f"{kind}, {workers} {noun}", False, is_local)


def packs(executor: Any) -> bool:
    """Whether an executor pickles and compresses the result of each chunk."""
    compression = getattr(executor, "compression", None)
    return compression is not None and not is_iterative(executor)
