# SPDX-License-Identifier: BSD-3-Clause
"""Steps of ours around the user's call: one that fails is counted, and goes no further.

Only the user's own call may raise. What is not an ``Exception`` (Ctrl-C) is the user's
too, wherever it comes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _probe

_T = TypeVar("_T")


def guarded(where: str, step: Callable[..., _T], *args: Any) -> _T | None:
    """What a step gives; None when it fails."""
    try:
        return step(*args)
    except Exception as error:
        with contextlib.suppress(MemoryError):  # there is nothing left to count with
            _probe.note_error(where, error)
        return None
