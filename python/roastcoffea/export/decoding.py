# SPDX-License-Identifier: BSD-3-Clause
"""Decodes metrics.json: ours (see encoding.py), or that of 0.1.2.

Files of 0.1.2 have no header, so their layout is fixed here: times are ISO text, tuples
lists, and tuples that are keys their repr. A file is not trusted: values of another
form stay as JSON has them.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from roastcoffea.export.encoding import HEADER, IN_RUN_FILE, MAX_KEY


def _decode_set(items: Any) -> set[Any]:
    return {decode(item) for item in items}


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "__tuple__": lambda items: tuple(decode(item) for item in items),
    "__set__": _decode_set,
    "__frozenset__": lambda items: frozenset(_decode_set(items)),
    "__bytes__": base64.b64decode,
    "__datetime__": datetime.fromisoformat,
    "__date__": date.fromisoformat,
    "__float__": float,
    "__dict__": lambda pairs: {decode(key): decode(item) for key, item in pairs},
}


def decode(value: Any) -> Any:
    """The reverse of Encoder.plain(). A tag with an invalid value is not decoded."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag in _DECODERS:
            try:
                return _DECODERS[tag](inner)
            except (TypeError, ValueError, OverflowError):
                return value
    return {key: decode(item) for key, item in value.items()}


def in_run_file(document: Mapping[str, Any]) -> list[str]:
    """The metrics that are not in metrics.json, because the run file has them."""
    header = document.get(HEADER)
    names = header.get(IN_RUN_FILE) if isinstance(header, dict) else None
    return [x for x in names if isinstance(x, str)] if isinstance(names, list) else []


def decode_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics from metrics.json: ours, or 0.1.2's, which has no header."""
    header = document.get(HEADER)
    layout = header.get("layout") if isinstance(header, dict) else _old_layout(document)
    if not isinstance(layout, dict):
        layout = {}
    metrics: dict[Any, Any] = {}
    for name, value in document.items():
        how = layout.get(name)
        if (
            name == "tracking_data"
            and isinstance(how, dict)
            and isinstance(value, dict)
        ):
            metrics[name] = {
                key: _READERS.get(how.get(key, ""), decode)(series)
                for key, series in value.items()
            }
        elif name != HEADER:
            known = _READERS.get(how, decode) if isinstance(how, str) else decode
            metrics[name] = known(value)
    others = decode(header.get("others")) if isinstance(header, dict) else None
    return metrics | others if isinstance(others, dict) else metrics


def _old_layout(document: Mapping[str, Any]) -> dict[str, Any]:
    """The layout of 0.1.2."""
    layout: dict[str, Any] = {"chunk_info": "tuple_pairs"}
    layout["raw_span_metrics"] = "tuple_keys"
    tracking = document.get("tracking_data")
    if isinstance(tracking, dict):
        layout["tracking_data"] = dict.fromkeys(tracking, "series")
        layout["tracking_data"]["worker_counts"] = "times"
    return layout


def _time(text: Any) -> Any:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return text


def _read_times(series: Any) -> Any:
    if not isinstance(series, dict):
        return decode(series)
    return {_time(time): decode(number) for time, number in series.items()}


def _read_sample(pair: Any) -> Any:
    if isinstance(pair, list) and len(pair) == 2:
        return (_time(pair[0]), decode(pair[1]))
    return decode(pair)


def _read_series(series: Any) -> Any:
    if not isinstance(series, dict):
        return decode(series)
    return {
        worker: [_read_sample(pair) for pair in line]
        if isinstance(line, list)
        else decode(line)
        for worker, line in series.items()
    }


def _key(text: str) -> Any:
    """The tuple that a text shows, or the text."""
    if not text.startswith("(") or len(text) > MAX_KEY:
        return text
    try:
        key = ast.literal_eval(text)
        hash(key)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
    return key if isinstance(key, tuple) else text


def _read_tuple_keys(data: Any) -> Any:
    if not isinstance(data, dict):
        return decode(data)
    return {_key(name): decode(value) for name, value in data.items()}


def _read_tuple_pairs(data: Any) -> Any:
    found = _read_tuple_keys(data)
    if not isinstance(found, dict):
        return found
    return {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in found.items()
    }


_READERS: dict[str, Callable[[Any], Any]] = {
    "times": _read_times,
    "series": _read_series,
    "tuple_keys": _read_tuple_keys,
    "tuple_pairs": _read_tuple_pairs,
}
