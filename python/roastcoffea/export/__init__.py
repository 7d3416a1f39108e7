# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as directories, metrics as tables."""

from __future__ import annotations

from roastcoffea.export.measurements import load_measurement, save_measurement

__all__ = ["load_measurement", "save_measurement"]
