# SPDX-License-Identifier: BSD-3-Clause
"""Metrics as strict JSON that decodes to the same values.

The layout is that of 0.1.2 where it had one: times as ISO text, ``chunk_info`` under
``"('file', 0, 100)"``, samples as ``[time, value]``. The key ``__roastcoffea__`` lists
these places; elsewhere a value that JSON lacks is an object with one tag
(``{"__tuple__": [...]}``). Not-a-number and infinity become null, other objects their
repr; both are counted. Secrets are removed from every text, and values under a name
like ``password`` are not written.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from roastcoffea import _core

HEADER = "__roastcoffea__"
IN_RUN_FILE = "in_run_file"  # of the header: metrics that the run file has
AS_REPR = "values_as_repr"  # how many
MAX_DEPTH = 50
MAX_REPR = 1000
MAX_INT_BITS = 4096  # Python itself refuses to read some 14 000
MAX_KEY = 4096  # a longer text is not taken for a tuple

TUPLE_KEYS = ("chunk_info", "raw_span_metrics")
TAGS = {
    f"__{tag}__" for tag in "tuple set frozenset bytes datetime date dict float".split()
}
HIDDEN = "***"  # in place of a secret
# For every name that has secret texts, this is one.
SOME_SECRET = "aB3dEf6hIj9kLm2nOp"
MAX_CACHED = 10_000  # texts that were looked at; the same ones come for every chunk


class Encoder:
    """Encodes values, and counts those that lose information.

    ``exact`` keeps not-a-number and infinity, for readers that use decoding.py.
    """

    def __init__(self, exact: bool = False) -> None:
        self.as_repr = 0
        self.nonfinite = 0
        self.exact = exact
        self._texts: dict[str, str] = {}
        self._secret: dict[str, tuple[bool, bool]] = {}  # of any value, of texts

    def text(self, value: str) -> str:
        """The text without the secrets in it."""
        plain = str.__str__(value)
        known = self._texts.get(plain)
        if known is None:
            known = redacted(plain)
            if len(self._texts) < MAX_CACHED:
                self._texts[plain] = known
        return known

    def names(self, keys: Collection[str]) -> Iterator[tuple[str, str]]:
        """(key without the secrets in it, key); those that become equal are numbered.

        A key that has no secret keeps its name.
        """
        taken = set(keys)
        for key in keys:
            shown = name = self.text(key)
            for number in itertools.count(2):
                if name == key or name not in taken:
                    break
                name = f"{shown} ({number})"
            taken.add(name)
            yield name, key

    def is_secret(self, key: Any, value: Any) -> bool:
        """Whether a value must not be written, for the name it stands under."""
        if not isinstance(key, str) or value is None or isinstance(value, bool):
            return False
        known = self._secret.get(key)
        if known is None:
            name = _writable(key)
            always = _core.is_secret(name, None)
            known = always, always or _core.is_secret(name, SOME_SECRET)
            if len(self._secret) < MAX_CACHED:
                self._secret[key] = known
        if known[0] or not known[1] or not isinstance(value, str):
            return known[0]
        return _core.is_secret(_writable(key), _writable(value))

    def under(self, key: Any, value: Any, depth: int = 0) -> Any:
        """A value of JSON, for a value that stands under a name."""
        return HIDDEN if self.is_secret(key, value) else self.plain(value, depth)

    def plain(self, value: Any, depth: int = 0) -> Any:
        """A value of JSON."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int):
            fits = value.bit_length() <= MAX_INT_BITS
            return int(value) if fits else self._described(value)
        if isinstance(value, float):
            if math.isfinite(value):
                return float(value)
            if self.exact:
                return {"__float__": str(float(value))}
            self.nonfinite += 1
            return None
        if depth >= MAX_DEPTH:
            return self._described(value)
        try:
            return self._compound(value, depth + 1)
        except Exception:  # of a class that is not ours: counted as one we do not know
            return self._described(value)

    def _compound(self, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, tuple):
            return {"__tuple__": [self.plain(item, depth) for item in value]}
        if isinstance(value, set | frozenset):
            tag = "__set__" if isinstance(value, set) else "__frozenset__"
            return {tag: [self.plain(item, depth) for item in sorted(value, key=repr)]}
        if isinstance(value, bytes | bytearray):
            try:  # bytes that are text may contain a secret
                plain = self.text(value.decode()).encode()
            except UnicodeDecodeError:
                plain = bytes(value)
            return {"__bytes__": base64.b64encode(plain).decode("ascii")}
        if isinstance(value, datetime):
            return {"__datetime__": value.isoformat()}
        if isinstance(value, date):
            return {"__date__": value.isoformat()}
        if isinstance(value, Sequence):
            return [self.plain(item, depth) for item in value]
        if isinstance(value, os.PathLike):
            return self.text(os.fsdecode(value))
        if hasattr(value, "dtype") and hasattr(value, "tolist"):
            return self.plain(value.tolist(), depth)  # numpy
        return self._described(value)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> Any:
        items = list(value.items())
        if all(isinstance(key, str) for key, _ in items):
            named = {
                self.text(key): self.under(key, item, depth) for key, item in items
            }
            clash = len(named) == 1 and not named.keys().isdisjoint(TAGS)
            if len(named) == len(items) and not clash:
                return named
        pairs = [
            [self.plain(key, depth), self.under(key, item, depth)]
            for key, item in items
        ]
        return {"__dict__": pairs}

    def _described(self, value: Any) -> str:
        self.as_repr += 1
        try:
            if isinstance(value, int):
                return f"<int of {value.bit_length()} bits>"
            return self.text(repr(value))[:MAX_REPR]
        except Exception:  # a broken __repr__, or one that nests too deep
            return f"<{type(value).__name__}>"

    # ---- places with 0.1.2's layout ---------------------------------------------

    def entries(
        self, metrics: Mapping[Any, Any], in_run_file: Sequence[str] = ()
    ) -> Iterator[tuple[str, Iterable[str]]]:
        """All of metrics.json: names, and pieces of JSON for their values.

        A generator: the last entry describes all others, and names what the run file
        has.
        """
        layout: dict[str, Any] = {}
        keys = [k for k in metrics if isinstance(k, str) and k not in (HEADER, AS_REPR)]
        for name, key in self.names(keys):
            value = metrics[key]
            if key == "tracking_data" and isinstance(value, Mapping):
                encoded, layout[key] = self._tracking(value)
                yield key, [dumps(encoded)]
            elif key in TUPLE_KEYS and isinstance(value, Mapping):
                encoded, layout[key] = self._tuple_keys(value)
                yield key, [dumps(encoded)]
            elif self.is_secret(key, value):
                yield name, [dumps(HIDDEN)]
            else:
                yield name, self.pieces(value)
        header: dict[str, Any] = {"encoding": 1}
        header["layout"] = {name: how for name, how in layout.items() if how}
        if in_run_file:
            header[IN_RUN_FILE] = list(in_run_file)
        others = {key: metrics[key] for key in metrics if not isinstance(key, str)}
        if others:
            header["others"] = self.plain(others)
        header[AS_REPR] = self.as_repr
        header["nonfinite_as_null"] = self.nonfinite
        if self.as_repr:
            yield AS_REPR, [dumps(self.as_repr)]
        yield HEADER, [dumps(header)]

    def pieces(self, value: Any) -> Iterator[str]:
        """The JSON of a value; of a list, which may be long, item by item."""
        if type(value) is not list:
            yield dumps(self.plain(value))
            return
        before = "["
        for item in value:
            yield before
            yield dumps(self.plain(item, 1))
            before = ", "
        yield "[]" if before == "[" else "]"

    def _tracking(self, data: Mapping[Any, Any]) -> tuple[Any, dict[str, str]]:
        if not all(isinstance(name, str) for name in data):
            return self.plain(data), {}
        encoded: dict[str, Any] = {}
        layout: dict[str, str] = {}
        for name, series in data.items():
            if is_times(series):
                encoded[name] = {
                    t.isoformat(): self.plain(n) for t, n in series.items()
                }
                layout[name] = "times"
            elif is_series(series):
                encoded[name] = {
                    self.text(worker): [[t.isoformat(), self.plain(n)] for t, n in line]
                    for worker, line in series.items()
                }
                layout[name] = "series"
            if name not in encoded or len(encoded[name]) < len(series):
                layout.pop(name, None)  # another shape, or two workers of one name
                encoded[name] = self.plain(series)
        return encoded, layout

    def _tuple_keys(self, data: Mapping[Any, Any]) -> tuple[Any, str | None]:
        named = {}
        for key, value in data.items():
            if not isinstance(key, tuple):
                return self.plain(data), None
            parts = tuple(self.plain(part) for part in key)
            if not all(part is None or isinstance(part, _SCALARS) for part in parts):
                return self.plain(data), None
            named[repr(parts)] = value
        if len(named) < len(data) or any(len(name) > MAX_KEY for name in named):
            return self.plain(data), None
        if all(type(value) is tuple for value in named.values()):
            pairs = {name: self.plain(list(value)) for name, value in named.items()}
            return pairs, "tuple_pairs"
        return {name: self.plain(value) for name, value in named.items()}, "tuple_keys"


_SCALARS = (str, int, float)


def dumps(value: Any) -> str:
    """Strict JSON."""
    return json.dumps(value, allow_nan=False)


def redacted(text: str) -> str:
    """A text without the secrets in it."""
    writable = _writable(text)
    clean = _core.redact(writable)
    return text if clean == writable else clean


def _writable(text: str) -> str:
    """The same with lone surrogates, which have no UTF-8, written out."""
    return text.encode(errors="backslashreplace").decode()


# ---- samples as 0.1.2 has them in ``tracking_data``, known by their shape ----------


def is_times(series: Any) -> bool:
    """{datetime: number}, not empty."""
    return (
        isinstance(series, Mapping)
        and bool(series)
        and all(isinstance(time, datetime) for time in series)
    )


def is_series(series: Any) -> bool:
    """{worker: [(datetime, number), ...]}, not empty."""
    return (
        isinstance(series, Mapping)
        and bool(series)
        and all(isinstance(worker, str) for worker in series)
        and all(type(line) is list for line in series.values())
        and all(
            type(pair) is tuple and len(pair) == 2 and isinstance(pair[0], datetime)
            for line in series.values()
            for pair in line
        )
    )
