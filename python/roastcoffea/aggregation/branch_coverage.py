# SPDX-License-Identifier: BSD-3-Clause
"""Which branches were read, and how much of each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["aggregate_branch_coverage", "parse_accessed_branches"]


def parse_accessed_branches(columns: Iterable[str]) -> set[str]:
    """The branches among a report's columns: those that end in ``-data``."""
    from roastcoffea import _core

    return _core.accessed_branches(columns)


def aggregate_branch_coverage(
    chunk_metrics: Iterable[Mapping[str, Any]] | None,
    coffea_report: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Metadata and read percentages of the files that the chunks came from."""
    from roastcoffea import _core

    return _core.branch_coverage(chunk_metrics, coffea_report)
