# SPDX-License-Identifier: BSD-3-Clause
"""Runs on a cluster of dask.distributed: what is sent there, and what comes back."""

from __future__ import annotations

__all__: list[str] = []
