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

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from roastcoffea._core import StoreError
    from roastcoffea.collector import MetricsCollector, monitor
    from roastcoffea.export.measurements import load_measurement, save_measurement
    from roastcoffea.run import Run, open_run

# Where the names live that only a collecting process needs: imported when first used,
# so that a worker loads the probe alone.
_LATER = {
    "MetricsCollector": "roastcoffea.collector",
    "Run": "roastcoffea.run",
    "StoreError": "roastcoffea._core",
    "load_measurement": "roastcoffea.export.measurements",
    "monitor": "roastcoffea.collector",
    "open_run": "roastcoffea.run",
    "save_measurement": "roastcoffea.export.measurements",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext roastcoffea``: the cell magic ``%%roast``."""
    from roastcoffea.notebook import register

    register(ipython)


__all__ = [
    "BaseInstrumentationContext",
    "FormatError",
    "MetricsCollector",
    "RoastError",
    "Run",
    "StoreError",
    "__version__",
    "load_measurement",
    "monitor",
    "open_run",
    "save_measurement",
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]
