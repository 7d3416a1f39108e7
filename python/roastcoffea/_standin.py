# SPDX-License-Identifier: BSD-3-Clause
"""What pickled code rebuilds instead of us where the package is not installed.

``_probe.front`` pickles as ``eval(expression)``, an expression that carries the text of
this very file: it needs nothing on the far side and fits every Python version there. It
gives the real ``front`` where that can be imported, and otherwise a stand-in that does
nothing: the user's processor runs unmeasured. So this file imports nothing of ours at
its top.
"""

from typing import Any


def expression(source: str) -> str:
    """Text that evaluates to a front anywhere.

    The quick way first: unpickling happens once per chunk on workers.
    """
    return (
        "getattr(__import__('sys').modules.get('roastcoffea._probe'), 'front', None)"
        " or (lambda source, ns: (exec(source, ns), ns['front'](source))[1])"
        f"({source!r}, {{'__name__': 'roastcoffea_standin'}})"
    )


class Nothing:
    """A context that does nothing."""

    def __enter__(self) -> "Nothing":
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class Front:
    """Stands in for ``_probe.front``: every name users mention, doing nothing."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.nothing = Nothing()

    def track_metrics(self, func: Any) -> Any:
        return func

    def track_time(self, *args: object, **kwargs: object) -> Nothing:
        return self.nothing

    track_section = track_memory = track_bytes = track_time

    def run(self, func: Any, args: Any, kwargs: Any, is_method: bool) -> Any:
        return func(*args, **(kwargs or {}))

    def prepare(self, processor: object) -> bool:
        return False

    def current_chunk(self, processor: object) -> Any:
        raise AttributeError("no chunk is measured: roastcoffea is not installed here")

    def record_metric(self, name: object, value: object) -> None:
        return None

    def __reduce__(self) -> Any:
        return eval, (expression(self.source),)


def front(source: str) -> Any:
    """The real thing; the stand-in when it cannot be imported, for whatever reason."""
    try:
        from roastcoffea import _probe

        return _probe.front
    except Exception:
        return Front(source)
