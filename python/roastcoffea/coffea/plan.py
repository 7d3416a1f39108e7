# SPDX-License-Identifier: BSD-3-Clause
"""One call of the Runner as texts: its items, and those in its result.

C reads them (src/analyze/rerun/plan.c, where their lines are listed) and finds what is
missing. An item is coffea's WorkItem: a range of entries of a file.
"""

from __future__ import annotations

import dis
import inspect
import json
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

from roastcoffea.coffea import fileset
from roastcoffea.export.decoding import decode
from roastcoffea.export.encoding import Encoder

MAX_BYTES = 12 * 2**20  # of a text: it must fit the queue of a live file
MAX_ITEMS = 2_000_000  # as in C
UNLISTED = "unlisted"
RECORDS = "records"
RERUNS = "reruns"  # what an earlier call, whose number follows, missed

File = tuple[str, str, str | None, str]  # dataset, file, tree, uuid: as in the text
Original = tuple[Any, Any, Any, Any, Any]  # dataset, file, tree, usermeta, preload


class Plan:
    """The items of one call."""

    def __init__(self) -> None:
        self.originals: dict[File, Original] = {}  # files that a text does not restore
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._encoder = Encoder(exact=True)

    def items_text(self, items: Iterable[Any]) -> str:
        """The note ``N items``."""
        ranges: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        firsts, count = [], 0
        for item in items:
            found = ranges.get(key := _file_of(item))
            if found is None:
                found = ranges[key] = []
                firsts.append(item)
            found.append((int(item.entrystart), int(item.entrystop)))
            count += 1
        self._numbers = {key: number for number, key in enumerate(ranges)}
        rows: list[str] = []
        common: list[str] = []
        for item, found in zip(firsts, ranges.values(), strict=True):
            head, lines = self._lines(item)
            if head != common:
                rows += head
                common = head
            rows += lines
            rows.append(f"items\t{_stretches(found)}")
        text = "\n".join(rows)
        return text if len(text) <= MAX_BYTES and count <= MAX_ITEMS else UNLISTED

    def result_text(self, processed: Iterable[Any] | None) -> str:
        """The note ``N result``; None: the result does not say what is in it."""
        if processed is None:
            return RECORDS
        ranges: dict[int, list[tuple[int, int]]] = {}
        for item in processed:
            number = self._numbers.get(_file_of(item))
            if number is not None:
                found = ranges.setdefault(number, [])
                found.append((int(item.entrystart), int(item.entrystop)))
        rows = [f"in\t{n}\t{_stretches(sorted(ranges[n]))}" for n in sorted(ranges)]
        return "\n".join(rows)

    def _lines(self, item: Any) -> tuple[list[str], list[str]]:
        """What is common to files of a dataset, and the line of the file."""
        tree = None
        if item.treename is not None:
            tree = fileset.line(fileset.stored_name(item.treename))
        dataset = fileset.line(fileset.stored_name(item.dataset))
        name = fileset.line(fileset.stored_name(item.filename))
        uuid = item.fileuuid.hex()
        meta, preload = item.usermeta, getattr(item, "preload", None)
        head = [f"dataset\t{dataset}"]
        is_exact = (dataset, tree) == (item.dataset, item.treename)
        if meta is not None:
            plain = self._encoder.plain(meta)
            head.append(f"usermeta\t{_json(plain)}")
            is_exact &= fileset.is_same(decode(json.loads(_json(plain))), meta)
        if preload is not None:
            head.append(f"preload\t{_json(sorted(map(str, preload)))}")
        if not (is_exact and name == item.filename):
            kept = (item.dataset, item.filename, item.treename, meta, preload)
            self.originals[dataset, name, tree, uuid] = kept
        fields = ["file", name, uuid, *([] if tree is None else [tree])]
        return head, ["\t".join(fields), *([] if is_exact else ["inexact"])]


def _file_of(item: Any) -> tuple[Any, ...]:
    return item.dataset, item.filename, item.treename, item.fileuuid


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _stretches(ranges: Iterable[tuple[int, int]]) -> str:
    """``START SIZE COUNT`` of items of one size, one behind the other."""
    rows: list[list[int]] = []
    for start, stop in ranges:
        last = rows[-1] if rows else [0, -1, 0]
        if last[1] == stop - start and start == last[0] + last[1] * last[2]:
            last[2] += 1
        else:
            rows.append([start, stop - start, 1])
    return " ".join(f"{start} {size} {count}" for start, size, count in rows)


def recorded(
    chunks: Generator[Any, Any, Any], take: Callable[[list[Any]], None]
) -> Generator[Any, Any, Any]:
    """The same items; ``take`` gets the list of all when the last one is given."""
    items: list[Any] = []
    sent: Any = None
    while True:
        try:
            item = chunks.send(sent)
        except StopIteration as end:
            take(items)
            return end.value
        items.append(item)
        sent = yield item


def name_of(processor: Any) -> str:
    return fileset.line(str(getattr(processor, "__name__", type(processor).__name__)))


def call_text(run_id: bytes, processor: Any, runner: Any, given: Any) -> str:
    """The note ``N call``."""
    rows = [f"run\t{run_id.hex()}", f"processor\t{name_of(processor)}"]
    if not getattr(runner, "use_dataframes", False) and not keeps_output(processor):
        rows.append("postprocess\tchanges")
    if isinstance(most := getattr(runner, "maxchunks", None), int):
        rows.append(f"maxchunks\t{most}")
    if not isinstance(given, (Mapping, str)):
        rows.append("part")
    return "\n".join(rows)


def keeps_output(processor: Any) -> bool:
    """Whether ``postprocess`` is certainly the identity: coffea does not call one, or
    all it does is to return its argument or None."""
    method = getattr(processor, "postprocess", None)
    if not callable(method):
        return True
    code = getattr(getattr(method, "__func__", method), "__code__", None)
    if not inspect.iscode(code):
        return False
    steps = [
        (step.opname, step.argval)
        for step in dis.get_instructions(code)
        if step.opname not in ("RESUME", "NOP", "CACHE")
    ]
    arguments = code.co_varnames[inspect.ismethod(method) : code.co_argcount]
    if [name for name, _ in steps[1:]] == ["RETURN_VALUE"]:
        name, value = steps[0]
        if name.startswith("LOAD_FAST"):
            return bool(value == next(iter(arguments), None))
        return name == "LOAD_CONST" and value is None
    return steps == [("RETURN_CONST", None)]
