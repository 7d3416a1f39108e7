# SPDX-License-Identifier: BSD-3-Clause
"""Reports, chunk records and sections that users pass to a run, some of them twice.

A dict that was made from one of our records has its identity, and the core counts it
once. A dict made by hand has none: it counts again, unless an earlier call had an equal
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea import _probe
from roastcoffea.coffea import results
from roastcoffea.run_recorder import RunRecorder

OUTPUT_KEY = "__roastcoffea_metrics__"

Record = dict[str, Any]


def identity_of(record: Mapping[str, Any]) -> tuple[int, int] | None:
    """(process, sequence) of a dict that was made from one of our records."""
    process, sequence = record.get("process_id"), record.get("sequence")
    if isinstance(process, int) and isinstance(sequence, int) and process > 0:
        return process, sequence
    return None


class UserRecords:
    """What users pass to one run."""

    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder
        self._records = recorder.notes.list("records")
        self._by_frame: dict[bytes, list[Record]] = {}  # those made by hand
        self._indexed = 0  # records that are in it

    def set_report(self, report: Any, custom_metrics: Mapping[str, Any] | None) -> None:
        recorder = self._recorder
        found = results.report_of(report)
        if found is None and results.is_result(report):
            return  # an Err without a value
        if found is None:
            raise TypeError(
                "set_coffea_report: expected coffea's report, (output, report) or an "
                f"Ok/Err of it, not {type(report).__name__}"
            )
        facts = {}
        if not any(found is known for known in recorder.reports):
            recorder.reports = [found]
            facts = results.numbers_of(found)
        custom = dict(custom_metrics or {})
        facts |= results.numbers_of_custom(custom)
        for fact, value in facts.items():
            recorder.core.set_fact(fact, value)
        if custom:
            name = "custom_metrics"
            custom = recorder.notes.document(name) | custom
            recorder.guarded(name, recorder.notes.set_document, name, custom)
        recorder.changes += 1

    def add_section(self, section: Mapping[str, Any]) -> None:
        sections = self._recorder.notes.list("sections")
        sections.items.append(dict(section))
        self._recorder.guarded("a section", sections.write_if_due)
        self._recorder.changes += 1

    def add(self, records: Iterable[Any], may_repeat: bool) -> None:
        """Records from an output: frames, our mappings, dicts of them, or made by hand.

        ``may_repeat``: dicts made by hand that equal one of an earlier call are the
        same record.
        """
        recorder = self._recorder
        earlier = self._earlier_records() if may_repeat else {}
        for record in records:
            recorder.guarded("a chunk record", self._add, record, earlier)
            recorder.guarded("a chunk record", self._records.write_if_due)
        recorder.changes += 1

    def _earlier_records(self) -> dict[bytes, list[Record]]:
        for record in self._records.items[self._indexed :]:
            frame = _probe.frame_of(record, 0)
            self._by_frame.setdefault(frame, []).append(record)
        self._indexed = len(self._records.items)
        return self._by_frame

    def _add(self, record: Any, earlier: dict[bytes, list[Record]]) -> None:
        core, made = self._recorder.core, self._records.items
        frame = record if isinstance(record, bytes) else getattr(record, "frame", None)
        if isinstance(frame, bytes):
            core.add_frames(frame, True)
            return
        if not isinstance(record, Mapping):
            kind = type(record).__name__
            raise TypeError(f"a chunk record must be a mapping, not {kind}")
        given = dict(record)
        if identity_of(given) is None:
            if self._is_from_here(given):
                return
            if "process_id" in given:  # made by hand in another run: numbered there
                given.pop("process_id")
                given.pop("sequence", None)
            same = earlier.get(_probe.frame_of(given, 0), ()) if earlier else ()
            if any(_equal(given, other) for other in same):
                return
        kept, *_ = core.add_frames(_probe.frame_of(given, len(made) + 1), True)
        if kept:
            made.append(given)

    def _is_from_here(self, given: Record) -> bool:
        """Whether it was made by hand and is one of ``run.chunk_metrics`` now."""
        number = given.get("sequence")
        made = self._records.items
        if given.get("process_id") != 0 or not isinstance(number, int):
            return False
        return 0 < number <= len(made) and made[number - 1].items() <= given.items()


def _equal(first: Record, second: Record) -> bool:
    try:
        return bool(first == second)
    except Exception:  # arrays, and objects whose comparison fails
        return False
