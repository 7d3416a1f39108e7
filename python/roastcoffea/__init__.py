# SPDX-License-Identifier: BSD-3-Clause
"""Where the time, the memory and the bytes of a coffea analysis went.

    from roastcoffea import track_metrics, track_time

    class MyProcessor(processor.ProcessorABC):
        @track_metrics
        def process(self, events):
            with track_time(self, "selection"):
                ...

The names users write are methods of one C object, ``_probe.front``: that makes them
cheap to call and lets code that mentions them be pickled to machines without us.
"""

from __future__ import annotations

from roastcoffea import _setup
from roastcoffea._probe import FormatError, RoastError, front
from roastcoffea._probe import version as __version__
from roastcoffea.instrumentation import BaseInstrumentationContext

_setup.install()

track_metrics = front.track_metrics
track_time = front.track_time
track_section = front.track_section
track_memory = front.track_memory
track_bytes = front.track_bytes

__all__ = [
    "BaseInstrumentationContext",
    "FormatError",
    "RoastError",
    "__version__",
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]
