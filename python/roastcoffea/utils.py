# SPDX-License-Identifier: BSD-3-Clause
"""Small helpers that scripts written for roastcoffea 0.1.2 import."""

from __future__ import annotations

from roastcoffea._probe import rss_mib as get_process_memory

__all__ = ["get_process_memory"]
