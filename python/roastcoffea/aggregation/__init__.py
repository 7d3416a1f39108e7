# SPDX-License-Identifier: BSD-3-Clause
"""What 0.1.2's scripts call to aggregate on their own: dict in, C, dict out.

No formula lives here. Every function imports ``_core`` when it is called: users give
the package to ``cloudpickle.register_pickle_by_value``, and a function that held a C
module among its globals could not travel.
"""

from __future__ import annotations

__all__: list[str] = []
