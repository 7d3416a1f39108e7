# SPDX-License-Identifier: BSD-3-Clause
"""Chunk records as statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["aggregate_chunk_metrics", "build_chunk_info"]


def aggregate_chunk_metrics(
    chunk_metrics: Iterable[Mapping[str, Any]] | None,
    section_metrics: Iterable[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Counts, durations, memory and events; per dataset and per section."""
    from roastcoffea import _core

    return _core.chunk_metrics(chunk_metrics, section_metrics)


def build_chunk_info(
    chunk_metrics: Iterable[Mapping[str, Any]],
) -> dict[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """{(file, entry_start, entry_stop): (t_start, t_end, bytes_read)}.

    Records that lack one of these, bytes apart, are left out.
    """
    from roastcoffea import _core

    return _core.chunk_info(chunk_metrics)
