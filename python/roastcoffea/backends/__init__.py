# SPDX-License-Identifier: BSD-3-Clause
"""Where samples of workers and spans of tasks come from, one module per executor."""

from __future__ import annotations

__all__: list[str] = []
