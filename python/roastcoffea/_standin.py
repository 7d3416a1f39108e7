# SPDX-License-Identifier: BSD-3-Clause
"""What pickled code rebuilds instead of us where the package is not installed.

``_probe.front`` pickles as ``eval(expression)``, an expression that carries the text of
this very file: it needs nothing on the far side and fits every Python version there. It
gives the real ``front`` where that can be imported, and otherwise a stand-in that does
nothing: the user's processor runs unmeasured. So this file imports nothing of ours at
its top, and nothing else depends on what it is called.
"""


def expression(source):  # type: ignore[no-untyped-def]
    """Text that evaluates to a front anywhere. The quick way first: unpickling happens
    once per chunk on workers."""
    return (
        "getattr(__import__('sys').modules.get('roastcoffea._probe'), 'front', None)"
        " or (lambda source, ns: (exec(source, ns), ns['front'](source))[1])"
        f"({source!r}, {{'__name__': 'roastcoffea_standin'}})"
    )


class Nothing:
    """A context that does nothing."""

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(self, *exc):  # type: ignore[no-untyped-def]
        return False


class Front:
    """Stands in for ``_probe.front``: every name users mention, doing nothing."""

    def __init__(self, source):  # type: ignore[no-untyped-def]
        self.source = source
        self.nothing = Nothing()

    def track_metrics(self, func):  # type: ignore[no-untyped-def]
        return func

    def track_time(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        return self.nothing

    track_section = track_memory = track_bytes = track_time

    def run(self, func, args, kwargs, is_method):  # type: ignore[no-untyped-def]
        return func(*args, **(kwargs or {}))

    def prepare(self, processor):  # type: ignore[no-untyped-def]
        return False

    def current_chunk(self, processor):  # type: ignore[no-untyped-def]
        raise AttributeError("no chunk is measured: roastcoffea is not installed here")

    def record_metric(self, name, value):  # type: ignore[no-untyped-def]
        return None

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return eval, (expression(self.source),)


def front(source):  # type: ignore[no-untyped-def]
    """The real thing, or the stand-in. Any failure to import us means: go on without."""
    try:
        from roastcoffea import _probe

        return _probe.front
    except Exception:
        return Front(source)
