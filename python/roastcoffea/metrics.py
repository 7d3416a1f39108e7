# SPDX-License-Identifier: BSD-3-Clause
"""The dict of ``get_metrics()``: numbers from C, with the large parts on demand.

There is no formula in here. Chunk dicts and samples are built on first access; in every
other respect this is a plain dict.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from roastcoffea import _probe
from roastcoffea.aggregation.chunk import aggregate_sections, build_chunk_info
from roastcoffea.user_records import identity_of

if TYPE_CHECKING:
    from roastcoffea.run import Run


# Parts that grow with the run: metrics.json does not repeat what its run file has.
LARGE = (
    *("raw_chunk_metrics", "chunk_info", "raw_section_metrics", "raw_span_metrics"),
    *("tracking_data", "file_metadata"),
)


def chunk_dicts(
    rows: Iterable[tuple[bytes, int, int, bool]], by_user: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The records as dicts; those that the user passed with all their keys."""
    passed: dict[Any, dict[str, Any]] = {
        identity_of(record) or (0, number): record
        for number, record in enumerate(by_user, 1)
    }
    for frame, chunk_id, attempt, _ in rows:
        record = dict(_probe.read_frames(frame)[0])
        identity = (record.get("process_id"), record.get("sequence"))
        record |= passed.get(identity, {})
        yield {"chunk_id": chunk_id, "attempt": attempt} | record


def _made_first(name: str) -> Any:
    """A method of dict that builds all values first."""
    method = getattr(dict, name)

    @functools.wraps(method)
    def call(self: LazyDict, *args: Any) -> Any:
        for key in self._unmade():
            self.get(key)
        return method(self, *args)

    return call


class LazyDict(dict[str, Any]):
    """A dict some of whose values are made on first use, by a function each."""

    def __init__(
        self, values: Mapping[str, Any], makers: Mapping[str, Callable[[], Any]]
    ) -> None:
        super().__init__(values)
        self._makers = dict(makers)

    def _unmade(self) -> list[str]:
        """The keys whose values are not made yet."""
        return list(self._makers)

    def _made(self) -> dict[str, Any]:
        """The values that are made."""
        return {key: self[key] for key in dict.keys(self)}

    def __missing__(self, key: str) -> Any:
        make = self._makers.get(key)
        if make is None:
            if super().__contains__(key):  # by another thread meanwhile
                return super().__getitem__(key)
            raise KeyError(key)
        value = make()
        self[key] = value
        return value

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._makers

    def __len__(self) -> int:
        return super().__len__() + len(self._makers)

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self._makers.pop(key, None)

    def __delitem__(self, key: str) -> None:
        if self._makers.pop(key, None) is None:
            super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        self.get(key)
        return super().pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        self.get(key)
        return super().setdefault(key, default)

    def update(self, *others: Any, **named: Any) -> None:
        for key, value in dict(*others, **named).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def clear(self) -> None:
        self._makers.clear()
        super().clear()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    __hash__ = None

    # These use all values.
    __iter__ = _made_first("__iter__")
    __reversed__ = _made_first("__reversed__")
    __eq__ = _made_first("__eq__")
    __repr__ = _made_first("__repr__")
    __or__ = _made_first("__or__")
    __ror__ = _made_first("__ror__")
    keys = _made_first("keys")
    values = _made_first("values")
    items = _made_first("items")
    popitem = _made_first("popitem")
    copy = _made_first("copy")


class Metrics(LazyDict):
    """The metrics of a run."""

    def __init__(self, run: Run) -> None:
        notes, found = run._notes, run._core.metrics()
        files = found.pop("file_metadata")
        super().__init__(
            found,
            {
                "tracking_data": run._tracking,
                "raw_chunk_metrics": lambda: run.chunk_metrics,
                "chunk_info": lambda: build_chunk_info(run.chunk_metrics),
                "file_metadata": lambda: _with_branches(files, run),
            },
        )
        self._run = run
        for row in self["sections"].values():
            _add_old_names(row)
        self["raw_section_metrics"] = run.section_metrics
        for name, row in _sections_by_hand(run.section_metrics).items():
            self["sections"].setdefault(name, row)
        self["raw_span_metrics"] = run.span_metrics
        self["labels"] = run.labels
        self["partial"] = run.partial
        self["monitor_first_error"] = notes.first_error
        self["remarks"] = notes.remarks
        why_off = notes.text("why_off")
        if why_off:
            self["unavailable"] = dict.fromkeys(self["unavailable"], why_off)
        for key, value in run.custom_metrics.items():
            self.setdefault(key, value)
        if run.custom_metrics:
            self["custom_metrics"] = run.custom_metrics

    def _summary(self) -> dict[str, Any]:
        """All but what grows with the chunks, files and samples of the run."""
        return {k: v for k, v in self._made().items() if k not in LARGE}


def _add_old_names(section: dict[str, Any]) -> None:
    """0.1.2's names of the numbers of a section."""
    for old, name in (("total_duration", "total"), ("mean_duration", "mean")):
        if name in section:
            section[old] = section[name]


def _with_branches(files: dict[str, Any], run: Run) -> dict[str, Any]:
    """The metadata of files, each with the sizes of its branches where known."""
    table = run.table("file_branches")
    columns = (table[name] for name in ("file", "branch", "compressed_bytes"))
    for file, branch, size in zip(*columns, strict=True):
        if file in files:  # not "(unknown)", which has no metadata
            files[file].setdefault("branch_bytes", {})[branch] = size
    return files


def _sections_by_hand(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Sections that users measured themselves, under the names of both packages."""
    found = aggregate_sections(rows)
    for row in found.values():
        row |= {"total": row["total_duration"], "mean": row["mean_duration"]}
    return found
