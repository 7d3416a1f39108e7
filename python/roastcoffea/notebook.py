# SPDX-License-Identifier: BSD-3-Clause
"""``%%roast``: a notebook cell under the collector."""

from __future__ import annotations

from typing import Any

from roastcoffea.collector import monitor


def register(ipython: Any) -> None:
    """Add the magic to a shell."""

    def roast(line: str, cell: str) -> Any:
        """Run the cell, measure it and show the card; ``%%roast NAME`` keeps it."""
        with monitor() as collector:
            ipython.run_cell(cell)
        if line.strip():
            ipython.user_ns[line.strip()] = collector
        return collector

    ipython.register_magic_function(roast, "cell", "roast")
