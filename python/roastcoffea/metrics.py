# SPDX-License-Identifier: BSD-3-Clause
"""What ``get_metrics()`` gives: a dict of C's numbers, with the bulky parts on demand.

No formula is in here. Chunk dicts and samples of a large run are built only when
somebody looks at them; to all other purposes this is a plain dict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from roastcoffea import _probe
from roastcoffea.aggregation.chunk import aggregate_sections, build_chunk_info
from roastcoffea.export.encoding import Stream

if TYPE_CHECKING:
    from roastcoffea.run import Run


def chunk_dicts(
    rows: list[tuple[bytes, int, int, bool]], hand_made: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The records as real dicts; those made by hand with all the keys they had."""
    dicts = []
    for frame, chunk_id, attempt, _ in rows:
        record = dict(_probe.read_frames(frame)[0])
        if record.get("process_id") == 0 and 0 < record["sequence"] <= len(hand_made):
            record |= hand_made[record["sequence"] - 1]
        dicts.append({"chunk_id": chunk_id, "attempt": attempt} | record)
    return dicts


class Metrics(dict[str, Any]):
    """The metrics of a run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.core.metrics())
        self.run = run
        self._makers: dict[str, Callable[[], Any]] = {
            "tracking_data": run.tracking,
            "raw_chunk_metrics": lambda: run.chunk_metrics,
            "chunk_info": lambda: build_chunk_info(run.chunk_metrics),
        }
        self["raw_section_metrics"] = run.section_metrics
        for name, row in _sections_by_hand(run.section_metrics).items():
            self["sections"].setdefault(name, row)
        self["raw_span_metrics"] = run.span_metrics
        self["labels"] = run.labels
        self["partial"] = run.partial
        self["monitor_first_error"] = run.first_error
        self["remarks"] = run.remarks
        if run.why_off:
            self["unavailable"] = dict.fromkeys(self["unavailable"], run.why_off)
        for key, value in run.custom_metrics.items():
            self.setdefault(key, value)
        if run.custom_metrics:
            self["custom_metrics"] = run.custom_metrics

    def unmade(self) -> list[str]:
        """What nobody has looked at yet, by name."""
        return list(self._makers)

    def made(self) -> list[str]:
        """The names of all the rest."""
        return list(super().keys())

    def __missing__(self, key: str) -> Any:
        make = self._makers.get(key)
        if make is None:
            if super().__contains__(key):  # another thread was quicker
                return super().__getitem__(key)
            raise KeyError(key)
        value = make()
        self[key] = value
        return value

    def _fill(self) -> None:
        for key in list(self._makers):
            self.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self._makers.pop(key, None)

    def __delitem__(self, key: str) -> None:
        if self._makers.pop(key, None) is None:
            super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        self.get(key)
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        self._fill()
        return super().popitem()

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

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._makers

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self._fill()
        return super().__reversed__()

    def __len__(self) -> int:
        return super().__len__() + len(self._makers)

    def keys(self) -> Any:
        self._fill()
        return super().keys()

    def values(self) -> Any:
        self._fill()
        return super().values()

    def items(self) -> Any:
        self._fill()
        return super().items()

    def copy(self) -> dict[str, Any]:
        self._fill()
        return dict(self)

    def __eq__(self, other: object) -> bool:
        self._fill()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        self._fill()
        return super().__repr__()

    def __reduce__(self) -> Any:
        return dict, (dict(self.items()),)


class Streamed(Mapping[str, Any]):
    """The metrics of a run for one writing, from the first to the last.

    The dicts of 10^5 chunks would take gigabytes: those that nobody has looked at are
    made in parts, as they are written, and not kept. What else comes of them is known
    then.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._metrics = run.metrics
        self._names = [*self._metrics.made(), *self._metrics.unmade()]
        self._streams = {"raw_chunk_metrics", "chunk_info"} <= {*self._metrics.unmade()}
        self._info: dict[Any, Any] = {}

    def _chunks(self) -> Iterator[dict[str, Any]]:
        for part in self._run.chunk_parts():
            self._info |= build_chunk_info(part)
            yield from part

    def __getitem__(self, name: str) -> Any:
        if self._streams and name == "raw_chunk_metrics":
            return Stream(self._chunks())
        if self._streams and name == "chunk_info":
            return self._info
        return self._metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _sections_by_hand(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Sections that users measured themselves, in the words of both packages."""
    found = aggregate_sections(rows)
    for row in found.values():
        row |= {"total": row["total_duration"], "mean": row["mean_duration"]}
    return found
