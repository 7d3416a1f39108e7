# SPDX-License-Identifier: BSD-3-Clause
"""``%%roast``: a notebook cell under the collector.

IPython runs the cell as ever and shows its error, if there is one. The cell as a whole
then fails too, so that "run all" stops there, but nothing is shown twice.
"""

from __future__ import annotations

import keyword
from typing import Any

from roastcoffea.collector import monitor


class CellFailed(Exception):
    """The code in a measured cell raised; IPython has shown how."""

    def _render_traceback_(self) -> list[str]:
        return []


def register(ipython: Any) -> None:
    """Add the magic to a shell."""

    def roast(line: str, cell: str) -> Any:
        """Run the cell, measure it and show the card; ``%%roast NAME`` keeps it."""
        name = line.strip()
        if name and (not name.isidentifier() or keyword.iskeyword(name)):
            from IPython.core.error import UsageError

            raise UsageError(f"%%roast NAME: {name!r} is not a name")
        with monitor() as run:
            result = ipython.run_cell(cell)
            error = result.error_before_exec or result.error_in_exec
            if error is not None and run._recorder:
                run._recorder.body_failed(error)
        if name:
            ipython.user_ns[name] = run
        if error is None:
            return run
        from IPython.display import display

        display(run)  # type: ignore[no-untyped-call]
        raise CellFailed(f"{type(error).__name__}: {error}")

    ipython.register_magic_function(roast, "cell", "roast")
