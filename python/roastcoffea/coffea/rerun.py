# SPDX-License-Identifier: BSD-3-Clause
"""What to run again, as coffea's Runner takes it, from the JSON that C makes."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roastcoffea.coffea import fileset
from roastcoffea.coffea.plan import File, Original
from roastcoffea.export.decoding import decode

CANNOT_ADD = (
    "postprocess() of {processor} changes the output, as far as can be seen: the output"
    " of these must not be added to the first one. Run everything again; or move that"
    " work out of postprocess(), add the outputs, and do it then"
)
NO_ITEMS = (
    "{files} failed in preprocessing, which gave no items:"
    " failed_fileset() has what to run again"
)
ALSO_FILES = (
    "{files} failed in preprocessing, which gave no items: run them as well,"
    " failed_fileset(without_items=True) has them"
)
INEXACT = (
    "the metadata of {dataset!r} cannot be restored from a file: use failed_items() in"
    " the process that ran it, or choose these items from runner.preprocess(fileset)"
)
INEXACT_FILES = (
    "the metadata of {dataset!r} cannot be restored from a file: use failed_fileset()"
    " in the process that ran it, or choose these files from your fileset"
)


def warn_if_not_added(document: Mapping[str, Any], stacklevel: int) -> None:
    """If outputs of two calls do not add up."""
    if document.get("can_be_added") is False:
        text = CANNOT_ADD.format(processor=document.get("processor") or "the processor")
        warnings.warn(text, stacklevel=stacklevel + 1)


def items_of(
    document: Mapping[str, Any],
    originals: Mapping[File, Original],
    stacklevel: int,
) -> list[Any]:
    """The WorkItems; ValueError if there are only files without items."""
    rows, files = document["items"], _count(document.get("fileset") or {})
    if files and not rows:
        raise ValueError(NO_ITEMS.format(files=files))
    items = [_item(row, originals) for row in rows]
    if files:
        warnings.warn(ALSO_FILES.format(files=files), stacklevel=stacklevel + 1)
    warn_if_not_added(document, stacklevel + 1)
    return items


def _count(files: Mapping[str, Any]) -> str:
    """ "1 file", or empty."""
    count = sum(len(entry["files"]) for entry in files.values())
    return f"{count} file{'s' if count > 1 else ''}" if count else ""


def _item(row: Mapping[str, Any], originals: Mapping[File, Original]) -> Any:
    from coffea.processor.executor import WorkItem

    place = row["dataset"], row["filename"], row["treename"], row["fileuuid"]
    original = originals.get(place)
    if original is None and row.get("inexact"):
        raise ValueError(INEXACT.format(dataset=row["dataset"]))
    preload = row["preload"]
    dataset, file, tree, usermeta, preload = original or (
        *place[:3],
        decode(row["usermeta"]),
        None if preload is None else frozenset(preload),
    )
    entries = int(row["entrystart"]), int(row["entrystop"])
    item = WorkItem(dataset, file, tree, *entries, bytes.fromhex(place[3]), usermeta)
    if preload is not None:
        object.__setattr__(item, "preload", preload)  # not in every version of coffea
    return item


def exact(
    files: Mapping[str, Any], given: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """A fileset with the metadata of datasets as given, where JSON does not hold it;
    ValueError if that is not known here."""
    found = {}
    for dataset, entry in files.items():
        if entry.pop(fileset.INEXACT, False):
            if dataset not in given:
                raise ValueError(INEXACT_FILES.format(dataset=dataset))
            entry |= given[dataset]
        found[dataset] = entry
    return found


def load_items(path: str | os.PathLike[str]) -> list[Any]:
    """The WorkItems in a file that ``roast failed RUN`` wrote, for
    ``runner(items, processor)``."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    rows = document.get("items") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise ValueError(
            f"{path} has no items: `roast failed RUN > {path}` writes them"
        )
    return items_of(document, {}, stacklevel=2)
