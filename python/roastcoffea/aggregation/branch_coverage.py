# SPDX-License-Identifier: BSD-3-Clause
"""Which branches were read, and how much of each file.

The percentages of a file are those of its first chunk that has them; 0.1.2 took the
first chunk of the file even when it had none, and gave 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea.aggregation.chunk import known

__all__ = ["aggregate_branch_coverage", "parse_accessed_branches"]

SUFFIX = "-data"
READ_KEYS = ("branches_read_percent", "bytes_read_percent", "accessed_bytes")


def parse_accessed_branches(columns: Iterable[str]) -> set[str]:
    """The branches among a report's columns: those that end in ``-data``."""
    columns = list(columns)
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"a column is a str, not {column!r}")
    return {name.removesuffix(SUFFIX) for name in columns if name.endswith(SUFFIX)}


def aggregate_branch_coverage(
    chunk_metrics: Iterable[Mapping[str, Any]] | None,
    coffea_report: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Metadata and read percentages of the files that the chunks came from.

    ``coffea_report`` is part of 0.1.2's signature and is not used.
    """
    from roastcoffea import _core

    chunks = list(chunk_metrics) if chunk_metrics is not None else []
    if not chunks:
        return {}
    metadata: dict[Any, Mapping[str, Any]] = {}
    reads: dict[Any, dict[str, Any]] = {}
    branches: set[Any] = set()
    for chunk in chunks:
        facts = chunk.get("file_metadata")
        if facts and facts.get("filename"):
            metadata.setdefault(facts["filename"], facts)
        if (file := chunk.get("file")) is not None:
            read = reads.setdefault(file, {})
            for key in READ_KEYS:
                if read.get(key) is None and chunk.get(key) is not None:
                    read[key] = chunk[key]
        branches.update(chunk.get("accessed_branches") or ())
    files = {
        file: {
            "total_branches": facts.get("total_branches", 0),
            "branches_read_percent": read.get("branches_read_percent", 0.0),
            "total_tree_bytes": facts.get("total_tree_bytes", 0),
            "bytes_read": read.get("accessed_bytes", 0),
            "bytes_read_percent": read.get("bytes_read_percent", 0.0),
        }
        for file, facts in metadata.items()
        for read in (reads.get(file, {}),)
    }
    percents = known(files.values(), "bytes_read_percent")
    branch_percents = known(files.values(), "branches_read_percent")
    ratios = known(metadata.values(), "compression_ratio")
    return {
        "file_metadata": metadata,
        "compression_ratios": [ratio for ratio in ratios if ratio > 0],
        "file_read_metrics": files,
        "avg_branches_read_percent": _core.statistics(branch_percents)["mean"],
        "avg_bytes_read_percent": _core.statistics(percents)["mean"],
        "bytes_read_percent_per_file": [value for value in percents if value > 0],
        "total_branches_read": len(branches),
    }
