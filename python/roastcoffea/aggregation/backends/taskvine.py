# SPDX-License-Identifier: BSD-3-Clause
"""Tracking data of TaskVine: our backend gives it in the shape of Dask's."""

from __future__ import annotations

from roastcoffea.aggregation.backends.dask import DaskTrackingDataParser

__all__ = ["TaskVineMetricsParser"]


class TaskVineMetricsParser(DaskTrackingDataParser):
    """Workers, cores and memory of tracking data."""
