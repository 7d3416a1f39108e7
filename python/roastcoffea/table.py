# SPDX-License-Identifier: BSD-3-Clause
"""Displays a table of a run, and converts it for other packages.

``_core.Table`` calls these. NumPy, pandas and pyarrow are imported on first use;
packages that take Arrow streams (polars, DuckDB, pyarrow) need nothing of this.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roastcoffea._core import Column, Table

ROWS = 10  # that are shown
WIDTH = 100
WIDEST = 40  # of one column
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# ---- shown ---------------------------------------------------------------------------


def as_text(table: Table) -> str:
    """The first rows, aligned, as many columns as fit, and what is left out."""
    lines = [""] * (min(ROWS, len(table)) + 1)
    left: list[str] = []
    for column in table.columns:
        cells = [column.name, *_shown(column)]
        width = max(map(len, cells))
        if left or (lines[0] and len(lines[0]) + 2 + width > WIDTH):
            left.append(column.name)
            continue
        pad = str.ljust if column.type == "text" else str.rjust
        gap = "  " if lines[0] else ""
        both = zip(lines, cells, strict=True)
        lines = [f"{line}{gap}{pad(cell, width)}" for line, cell in both]
    more = [f"... {len(table) - ROWS} more rows"] if len(table) > ROWS else []
    if left:
        more += textwrap.wrap(f"... and {', '.join(left)}", WIDTH)
    return "\n".join(line.rstrip() for line in [_shape(table), *lines, *more])


def as_html(table: Table) -> str:
    """The first rows of all columns for a notebook."""
    columns = [[column.name, *_shown(column)] for column in table.columns]
    head, *rows = zip(*columns, strict=True) if columns else [()]
    return (
        '<div style="overflow-x: auto"><table><thead>'
        f"{_html_row('th', head)}</thead><tbody>"
        f"{''.join(_html_row('td', row) for row in rows)}</tbody></table>"
        f"<p>{_shape(table)}</p></div>"
    )


def _shape(table: Table) -> str:
    return f"{len(table)} rows x {len(table.names)} columns"


def _html_row(tag: str, cells: Iterable[str]) -> str:
    inside = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{inside}</tr>"


def _shown(column: Column) -> list[str]:
    """The first values of a column; what is not known is a dash."""
    show = SHOWN.get(column.type, str)
    return ["-" if value is None else show(value) for value in column[:ROWS]]


def _number(value: float) -> str:
    return f"{value:.6g}"


def _time(value_ns: int) -> str:
    try:
        moment = EPOCH + timedelta(microseconds=value_ns // 1000)
    except OverflowError:
        return str(value_ns)
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _text(value: str) -> str:
    """Texts come from data: nothing in them may act on a terminal."""
    plain = "".join(c if c.isprintable() else "?" for c in value)
    half = WIDEST // 2 - 2
    return plain if len(plain) <= WIDEST else f"{plain[:half]}...{plain[-half:]}"


SHOWN: dict[str, Callable[[Any], str]] = {
    "float64": _number,
    "time": _time,
    "text": _text,
}

# ---- other packages ------------------------------------------------------------------


def to_numpy(column: Column) -> Any:
    """An array in which what is not known can be seen.

    float64: NaN; time: datetime64[ns], NaT; text: objects, None. Integers are float64
    with NaN, flags objects with None, unless all are known.
    """
    import numpy as np

    known = _known(column)
    if column.type == "text":
        words = np.array([*column.words, None], dtype=object)
        ids = np.asarray(column)
        return words[ids if known is None else np.where(known, ids, -1)]
    values = np.asarray(column)
    if column.type == "time":
        values = values.view("datetime64[ns]")
    if known is None:
        return values
    if column.type in {"float64", "int64"}:
        return np.where(known, values, np.nan)
    if column.type == "time":
        return np.where(known, values, np.datetime64("NaT"))
    values = values.astype(object)
    values[~known] = None
    return values


def to_pandas(table: Table) -> Any:
    """A DataFrame: nullable integers and flags, UTC times, texts as plain objects."""
    import pandas as pd

    return pd.DataFrame({column.name: _series(column) for column in table.columns})


def _series(column: Column) -> Any:
    import numpy as np
    import pandas as pd

    if column.type == "time":
        return pd.Series(to_numpy(column)).dt.tz_localize("UTC")
    known = _known(column)
    if known is None or column.type in {"float64", "text"}:
        plain = object if column.type == "text" else None
        return pd.Series(to_numpy(column), dtype=plain)
    array = pd.arrays.BooleanArray if column.type == "bool" else pd.arrays.IntegerArray
    return pd.Series(array(np.array(column), ~known))


def to_arrow(table: Table) -> Any:
    """A pyarrow Table, without a copy."""
    import pyarrow as pa

    return pa.table(table)


def _known(column: Column) -> Any:
    """Which values are known, as an array; None: all of them."""
    import numpy as np

    if column.valid is None:
        return None
    bits = np.frombuffer(column.valid, dtype=np.uint8)
    return np.unpackbits(bits, count=len(column), bitorder="little").astype(bool)
