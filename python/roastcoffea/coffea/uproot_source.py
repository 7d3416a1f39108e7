# SPDX-License-Identifier: BSD-3-Clause
"""From coffea's events to the uproot object that counts the bytes of their file.

``events.attrs["@events_factory"].file_handle`` is public in coffea; for ROOT files it
leads to an uproot source with ``num_requested_bytes``: from the directory a Runner
opened through its file, from events opened by hand directly. Parquet files have none.
"""

from __future__ import annotations

from typing import Any


def byte_source(events: Any) -> Any | None:
    """The object with ``num_requested_bytes``, or None where there is none."""
    factory = events.attrs.get("@events_factory")
    handle = getattr(factory, "file_handle", None)
    source = getattr(getattr(handle, "file", handle), "source", None)
    return source if hasattr(source, "num_requested_bytes") else None
