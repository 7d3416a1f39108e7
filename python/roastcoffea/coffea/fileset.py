# SPDX-License-Identifier: BSD-3-Clause
"""The fileset that a Runner was given, in one plain form.

    {dataset: {"files": {file: tree or None}, "metadata": {...}, "preload": [...]}}

Datasets and files are named as records name them, without secrets, so that what failed
can be found in it. A generator of chunks is not read: that is possible only once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from roastcoffea import _core, _probe
from roastcoffea.export.decoding import decode
from roastcoffea.export.encoding import Encoder

MAX_BYTES = 12 * 2**20  # of the text; of a larger one only the hash is kept
MARK = re.compile(r"\*\*\*~[0-9a-f]{8}")  # of a name with a secret
INEXACT = "inexact"
CONTROL = dict.fromkeys([*range(32), 127], "?")
Plain = dict[str, dict[str, Any]]


def plain_fileset(fileset: Any, treename: Any = None) -> Plain:
    """The plain form; {} for objects without known files."""
    if isinstance(fileset, str):  # coffea reads it too
        fileset = _read(fileset)
    if isinstance(fileset, Mapping):
        pairs = ((str(name), _dataset(x, treename)) for name, x in fileset.items())
        return {name: entry for name, entry in pairs if entry}
    found: Plain = {}
    for item in fileset if isinstance(fileset, (list, tuple)) else ():
        dataset, file = getattr(item, "dataset", None), getattr(item, "filename", None)
        if dataset is not None and file is not None:
            entry = found.setdefault(str(dataset), {"files": {}})
            entry["files"][stored_name(file)] = _text(getattr(item, "treename", None))
            if meta := getattr(item, "usermeta", None):
                entry.setdefault("metadata", meta)
    return found


def _read(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError, RecursionError):
        return None


def _dataset(entry: Any, treename: Any) -> dict[str, Any]:
    """One dataset, in any of the forms that coffea takes."""
    entry = _dumped(entry)
    if not isinstance(entry, Mapping):
        return {"files": _files(entry, treename)} if isinstance(entry, list) else {}
    plain = {"files": _files(entry.get("files"), entry.get("treename", treename))}
    for key in ("metadata", "preload"):
        if entry.get(key) is not None:
            plain[key] = entry[key]
    return plain


def _dumped(entry: Any) -> Any:
    """A DatasetSpec as a dict; anything else as it is."""
    dump = getattr(entry, "model_dump", None)
    return dump() if callable(dump) else entry


def _files(files: Any, treename: Any) -> dict[str, str | None]:
    if isinstance(files, Mapping):
        return {
            stored_name(file): _text(treename if treename is not None else _tree(tree))
            for file, tree in files.items()
        }
    if isinstance(files, Iterable) and not isinstance(files, (str, bytes)):
        return {stored_name(file): _text(treename) for file in files}
    return {}


def _tree(value: Any) -> Any:
    """{file: tree}, or {file: {"object_path": tree, ...}}."""
    return value.get("object_path") if isinstance(value, Mapping) else value


def stored_name(name: Any) -> str:
    """The name of a dataset, file or tree as records have it."""
    plain = str(name).encode(errors="backslashreplace").decode()
    return _core.redact_name(plain, _probe.name_key())


def _text(value: Any) -> str | None:
    return None if value is None else stored_name(value)


def signed(fileset: Any) -> dict[str, str]:
    """{stored name: name as it was given}, where they differ."""
    given: list[Any] = []
    if isinstance(fileset, str):
        fileset = _read(fileset)
    for dataset, entry in fileset.items() if isinstance(fileset, Mapping) else ():
        entry = _dumped(entry)
        files = entry.get("files") if isinstance(entry, Mapping) else entry
        given += [dataset, *(files if isinstance(files, (Mapping, list)) else ())]
    pairs = ((stored_name(name), str(name)) for name in given)
    return {stored: name for stored, name in pairs if stored != name}


def sign(fileset: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A fileset with the names as given: only these open the files."""
    result = {}
    for dataset, entry in fileset.items():
        files = entry["files"]
        if isinstance(files, Mapping):
            given: Any = {names.get(file, file): files[file] for file in files}
        else:
            given = [names.get(file, file) for file in files]
        result[names.get(dataset, dataset)] = entry | {"files": given}
    return result


def others_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Of a dataset: all but its files."""
    return {key: value for key, value in entry.items() if key != "files"}


def encoded(plain: Plain) -> dict[str, Any]:
    """The fileset for JSON, without secrets; INEXACT marks datasets that JSON does not
    restore."""
    encoder = Encoder(exact=True)
    found = {}
    for dataset, entry in plain.items():
        others = others_of(entry)
        kept = {key: encoder.under(key, value) for key, value in others.items()}
        if not is_same(decode(json.loads(json.dumps(kept))), others):
            kept[INEXACT] = True
        found[stored_name(dataset)] = {"files": entry["files"], **kept}
    return found


def is_same(a: Any, b: Any) -> bool:
    """Equal in value and type, in depth."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return [*a] == [*b] and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(is_same, a, b))
    return bool(a == b or (a != a and b != b))


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The files of both."""
    both = {**first, **second}
    for name in first.keys() & second.keys():
        files = first[name].get("files", {}) | second[name]["files"]
        both[name] = first[name] | second[name] | {"files": files}
    return both


def hash_of(entries: Mapping[str, Any]) -> str:
    """Independent of the order of the files, and of secrets in their names."""
    text = json.dumps(entries, sort_keys=True, allow_nan=False)
    text = MARK.sub("***", text)
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(entries: Mapping[str, Any]) -> str | None:
    """For the note that C reads; None if it is too large.

    The lines are ``dataset NAME``, ``other JSON`` (members) and ``file NAME [TREE]``,
    with tabs between.
    """
    rows: list[tuple[str, ...]] = []
    for dataset, entry in entries.items():
        rows.append(("dataset", line(dataset)))
        others = others_of(entry)
        if others:
            members = json.dumps(others, allow_nan=False, separators=(",", ":"))[1:-1]
            rows.append(("other", members))
        for file, tree in entry["files"].items():
            rows.append(("file", line(file), *([] if tree is None else [line(tree)])))
    text = "\n".join(map("\t".join, rows))
    return text if len(text) <= MAX_BYTES else None


def line(name: str) -> str:
    """A name that can stand in a line."""
    return name.encode(errors="backslashreplace").decode().translate(CONTROL)


def read_text(text: str) -> dict[str, Any]:
    """The fileset in a text of text_of(), as far as it can be read."""
    found: dict[str, Any] = {}
    entry: dict[str, Any] = {}
    for row in text.split("\n"):
        kind, *fields = row.split("\t")
        if kind == "dataset" and fields:
            entry = found.setdefault(fields[0], {"files": {}})
        elif kind == "file" and fields and entry:
            entry["files"][fields[0]] = fields[1] if len(fields) > 1 else None
        elif kind == "other" and fields and entry:
            with contextlib.suppress(ValueError, RecursionError):  # not trusted
                others = decode(json.loads("{" + fields[0] + "}"))
                entry.update(others_of(others))
    return found
