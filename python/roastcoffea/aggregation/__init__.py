# SPDX-License-Identifier: BSD-3-Clause
"""What 0.1.2's scripts call to aggregate on their own: dict in, dict out.

These modules select and group values; the formulas are C's (``_core.statistics``,
``time_average``, ``derive_metrics``). Every function imports ``_core`` when it is
called: users give the package to ``cloudpickle.register_pickle_by_value``, and a
function that held a C module among its globals could not be pickled.
"""

from __future__ import annotations

__all__: list[str] = []
