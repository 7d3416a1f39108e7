# SPDX-License-Identifier: BSD-3-Clause
"""Joins the C probe to its Python parts and to the environment, once, at import.

The library itself never reads the environment; this does:

``ROASTCOFFEA=off``         everything is a no-op
``ROASTCOFFEA_PEAK=exact``  reset the kernel's high-water mark of memory at each chunk,
                            so that every peak is exact; other code in the process that
                            reads the mark (``ru_maxrss``) sees it reset
"""

from __future__ import annotations

import os

from roastcoffea import _probe, _standin, decorator
from roastcoffea.adapters import uproot_source


def _is(variable: str, value: str) -> bool:
    return os.environ.get(variable, "").strip().lower() == value


def _pickle_recipe() -> tuple[object, tuple[str]] | None:
    """How ``front`` pickles: a callable and its arguments, from the stand-in's text."""
    get_source = getattr(_standin.__loader__, "get_source", None)
    source = get_source(_standin.__name__) if get_source else None
    return (eval, (_standin.expression(source),)) if source else None


def install() -> None:
    """Tell the probe who decorates, who counts bytes, and what is switched on."""
    _probe.configure(
        enabled=not _is("ROASTCOFFEA", "off"),
        exact_peak=_is("ROASTCOFFEA_PEAK", "exact"),
        decorate=decorator.decorate,
        byte_source=uproot_source.byte_source,
        stub=_pickle_recipe(),
    )
