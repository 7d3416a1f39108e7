# SPDX-License-Identifier: BSD-3-Clause
"""The name of a worker of Dask that its scheduler knows.

What runs in tasks says it, and so does the plugin on the worker, which is there before
anything else of ours. Travels as source: standard library only.
"""

from __future__ import annotations

from typing import Any


def address_of(worker: Any) -> str:
    return str(getattr(worker, "contact_address", None) or worker.address)
