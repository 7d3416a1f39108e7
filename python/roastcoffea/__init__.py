# SPDX-License-Identifier: BSD-3-Clause
"""Where the time, the memory and the bytes of a coffea analysis went.

    from roastcoffea import track_metrics, track_time

    class MyProcessor(processor.ProcessorABC):
        @track_metrics
        def process(self, events):
            with track_time(self, "selection"):
                ...

The names users write are methods of one C object, ``_probe.user_functions``: that makes
them cheap to call and lets code that mentions them be pickled to machines without us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _setup
from ._probe import FormatError, RoastError, user_functions
from ._probe import version as __version__
from .instrumentation import BaseInstrumentationContext

_setup.install()

track_metrics = user_functions.track_metrics
track_time = user_functions.track_time
track_section = user_functions.track_section
track_memory = user_functions.track_memory
track_bytes = user_functions.track_bytes

if TYPE_CHECKING:
    from ._core import StoreError
    from .backends.dask import DaskBackend
    from .coffea.rerun import load_items
    from .collector import MetricsCollector, monitor
    from .comparison import compare, forecast, scale
    from .export.measurements import load_measurement, save_measurement
    from .run import Run, open_run
    from .selftesting import selftest

# Where the names live that only a collecting process needs: imported when first used,
# so that a worker loads the probe alone.
_LATER = {
    "DaskBackend": ".backends.dask",
    "MetricsCollector": ".collector",
    "Run": ".run",
    "StoreError": "._core",
    "compare": ".comparison",
    "forecast": ".comparison",
    "load_items": ".coffea.rerun",
    "load_measurement": ".export.measurements",
    "monitor": ".collector",
    "open_run": ".run",
    "save_measurement": ".export.measurements",
    "scale": ".comparison",
    "selftest": ".selftesting",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    try:
        value = getattr(importlib.import_module(_LATER[name], __name__), name)
    except ModuleNotFoundError as error:
        if not _setup.is_shipped():
            raise
        value = _setup.make_absent(name, error)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext roastcoffea``: the cell magic ``%%roast``."""
    from .notebook import register

    register(ipython)


__all__ = [
    "BaseInstrumentationContext",
    "DaskBackend",
    "FormatError",
    "MetricsCollector",
    "RoastError",
    "Run",
    "StoreError",
    "__version__",
    "compare",
    "forecast",
    "load_items",
    "load_measurement",
    "monitor",
    "open_run",
    "save_measurement",
    "scale",
    "selftest",
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]
