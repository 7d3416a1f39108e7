# SPDX-License-Identifier: BSD-3-Clause
"""What users hand over: reports, sections, and chunk records, some of them twice.

A dict made of one of our records has that record's identity and is the same record. One
made by hand has none: when a list is handed over again, an equal dict is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea import _probe
from roastcoffea.coffea import results
from roastcoffea.collecting import Collecting

OUTPUT_KEY = "__roastcoffea_metrics__"
OPENED = "this run was opened from a file: nothing can be added to it"

Record = Mapping[str, Any]


class HandOver:
    """What is handed to a run; ``made`` are the dicts that were new."""

    def __init__(self, core: Any, made: list[dict[str, Any]]) -> None:
        self.made = made
        self.before: set[str] = set()
        self._core = core
        self._known: set[Any] = set()
        self._read = -1

    def begin(self, may_repeat: bool) -> None:
        """A call in which records are handed over."""
        self.before = {repr(record) for record in self.made} if may_repeat else set()

    def frame(self, record: Any) -> bytes | None:
        """The frame of a record, None if it is known. TypeError for something else."""
        frame = record if isinstance(record, bytes) else getattr(record, "frame", None)
        if isinstance(frame, bytes):
            return frame
        if not isinstance(record, Mapping):
            raise TypeError(f"a chunk record is a mapping, not {type(record).__name__}")
        if self._is_known(record):
            return None
        frame = _probe.frame_of(record, len(self.made) + 1)
        self.made.append(dict(record))
        return frame

    def _is_known(self, record: Record) -> bool:
        process, number = _identity(record)
        if process:
            identities = self._identities()
            known = (process, number) in identities
            identities.add((process, number))
            return known
        if isinstance(number, int) and 0 < number <= len(self.made):
            return self.made[number - 1].items() <= record.items()  # ours, given back
        return bool(self.before) and repr(dict(record)) in self.before

    def _identities(self) -> set[Any]:
        """Of all records; read again only when others than these dicts have come."""
        ended = self._core.progress()
        others = ended["done"] + ended["failed"] - len(self.made)
        if others != self._read:
            frames = b"".join(row[0] for row in self._core.chunks())
            records = (*_probe.read_frames(frames), *self.made)
            self._known = {_identity(record) for record in records}
            self._read = others
        return self._known


def _identity(record: Record) -> tuple[Any, Any]:
    """Which process made it and as which; (None, None) for one made by hand."""
    return record.get("process_id"), record.get("sequence")


class Handed(Collecting):
    """A run as the user sees it who hands something over."""

    _handed: HandOver | None = None

    def set_coffea_report(
        self, report: Any, custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Hand over coffea's report, ``(output, report)`` or an Ok/Err of it."""
        self._refuse_if_opened()
        found = results.report_of(report)
        if found is None and results.is_result(report):
            return  # an Err without a value
        if found is None:
            raise TypeError(
                "set_coffea_report: expected coffea's report, (output, report) or an "
                f"Ok/Err of it, not {type(report).__name__}"
            )
        if not any(found is known for known in self._reports):
            self._reports = [found]
            for fact, value in results.numbers_of(found).items():
                self.core.set_fact(fact, value)
        custom = dict(custom_metrics or {})
        for fact, value in results.numbers_of_custom(custom).items():
            self.core.set_fact(fact, value)
        if custom:
            self.custom_metrics.update(custom)
            name = "custom_metrics"
            self.guarded(name, self.keep, name, self.custom_metrics)
        self._changed()

    def extract_metrics_from_output(self, output: Any) -> Any:
        """Take our key out of an output; gives the output back."""
        self._refuse_if_opened()
        if isinstance(output, dict) and isinstance(output.get(OUTPUT_KEY), list):
            self._add_records(output.pop(OUTPUT_KEY), True)
        return output

    def set_chunk_metrics(self, chunk_metrics: Iterable[Any]) -> None:
        """Hand over records; those that are known already are not counted again."""
        self._add_records(chunk_metrics or (), True)

    def record_chunk_metrics(self, chunk_metrics: Mapping[str, Any]) -> None:
        """Hand over one record."""
        self._add_records([chunk_metrics], False)

    def record_section_metrics(self, section_metrics: Mapping[str, Any]) -> None:
        """Hand over one section that was measured by other means."""
        self._refuse_if_opened()
        sections = self.growing("sections")
        sections.items.append(dict(section_metrics))
        self.guarded("a section", sections.write_if_due)
        self._changed()

    def _add_records(self, records: Iterable[Any], may_repeat: bool) -> None:
        """Records from an output, as bytes, as we made them, or made by hand."""
        self._refuse_if_opened()
        made = self.growing("records")
        if self._handed is None:
            self._handed = HandOver(self.core, made.items)
        self._handed.begin(may_repeat)
        for record in records:
            self.guarded("a chunk record", self._add_record, self._handed, record)
            self.guarded("a chunk record", made.write_if_due)
        self._changed()

    def _add_record(self, handed: HandOver, record: Any) -> None:
        frame = handed.frame(record)
        if frame is not None:
            self.core.add_frames(frame, True)

    def _refuse_if_opened(self) -> None:
        if self.is_opened:
            raise RuntimeError(OPENED)
