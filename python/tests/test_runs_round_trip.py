# SPDX-License-Identifier: BSD-3-Clause
"""Random records of every field, live, saved and loaded: the same bit by bit.

Frames are made by hand from the list of fields, so that a field which is added to the
list is tested here without anybody thinking of it.
"""

from __future__ import annotations

import itertools
import re
import struct
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import roastcoffea
from handmade_frames import CHUNK, crc32c, pairs, row, sized, table, varint
from measurement_dirs import saved_in_json
from roastcoffea import Run, _core, _probe
from roastcoffea.export.encoding import TAGS
from roastcoffea.run_recorder import RunRecorder
from saved_run_samples import differing, same
from support import ROOT

LIST = (ROOT / "include" / "roast" / "record_fields.def").read_text()
FIELDS = re.findall(r"^F\((\d+), (\w+), (\w+),", LIST, re.MULTILINE)
OK, FAILED = 1, 2
START_NS = 1_700_000_000_000_000_000
quick = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# ---- parts of a frame ----------------------------------------------------------------

letters = st.characters(codec="utf-8", exclude_characters="\0?#:@= ")
names = st.text(letters, max_size=9).filter(
    lambda name: name not in TAGS and not _core.is_secret(name, None)
)
numbers = st.one_of(st.integers(0, 300), st.integers(0, 2**63 - 1), st.just(2**64 - 1))
small = st.integers(0, 10**12)


def zigzag(value):
    return varint((value << 1) ^ (value >> 63) if value >= 0 else (-value << 1) - 1)


def encoded(value):
    """A value of user_keys: see docs/format.md."""
    if value is None or isinstance(value, bool):
        return bytes([{None: 0, False: 1, True: 2}[value]])
    if isinstance(value, int):
        return b"\3" + zigzag(value)
    if isinstance(value, float):
        return b"\4" + struct.pack("<d", value)
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return bytes([5 if isinstance(value, str) else 6]) + sized(data)
    if isinstance(value, list):
        return b"\7" + varint(len(value)) + b"".join(map(encoded, value))
    return b"\10" + varint(len(value)) + entries(value)


def entries(values):
    return b"".join(sized(k.encode()) + encoded(v) for k, v in values.items())


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        names,
        st.binary(max_size=9),
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=8,
)
keyed = st.dictionaries(names, values, max_size=4).map(entries)


@st.composite
def section_trees(draw):
    parts = [varint(count := draw(st.integers(0, 4)))]
    for n in range(count):
        kinds = draw(st.integers(1, 15))
        parts += [varint(draw(st.integers(0, n))), varint(kinds)]
        parts += [sized(draw(names).encode()), varint(draw(small)), varint(draw(small))]
        if kinds & 2:
            delta = draw(st.integers(-(10**12), 10**12))
            parts += [varint(draw(small)), varint(draw(small)), zigzag(delta)]
        if kinds & 4:
            parts.append(varint(draw(small)))
    return b"".join(parts)


def table_of(bits):
    rows = st.dictionaries(st.sampled_from(bits), st.integers(0, 10**9), max_size=7)
    return st.dictionaries(names.filter(bool), rows, max_size=4).map(table)


def pairs_of(first, second):
    rows = st.dictionaries(first, second, max_size=5)
    return rows.map(lambda found: pairs(*itertools.chain(*found.items())))


BLOBS = {
    "place": st.binary(min_size=16, max_size=16),
    "sections": section_trees(),
    "user_keys": keyed,
    "custom_metrics": keyed,
    "process": keyed,
    "losses": pairs_of(st.integers(0, 4), small),
    "absences": pairs_of(st.integers(1, 50), st.integers(1, 5)),
    "intervals": st.just(varint(0)),
    "ladder": pairs_of(st.integers(0, 20), small),
    "branches": table_of(range(7)),
    "endpoints": table_of(range(5)),
    "file_facts": st.dictionaries(
        st.sampled_from(range(6)), st.integers(0, 10**9), max_size=6
    ).map(row),
    "file_branches": table_of((5, 6)),
}


# What JSON cannot tell from nothing, or not in the same order, or as a tree.
WILD = ("sections", "process", "intervals", "losses", "absences")


@st.composite
def frames(draw, tame=False):
    """A chunk frame of any of its fields; ``tame``: as it could have happened."""
    number, process = draw(st.integers(1, 2**32 - 1)), draw(st.sampled_from([1, 2**63]))
    identity = bytes(16) + process.to_bytes(8, "little") + number.to_bytes(4, "little")
    body = varint(1 << 2 | 2) + sized(identity)
    status = draw(st.sampled_from([OK, FAILED]))
    for tag, name, kind in FIELDS[1:]:
        impossible = name in WILD or (name.startswith("error") and status == OK)
        wanted = draw(st.booleans()) or (tame and name == "status")
        if not wanted or (tame and impossible):
            continue
        if kind == "U64":
            most = small if tame else numbers
            value = varint(status if name == "status" else draw(most))
        elif kind == "I64":
            value = zigzag(draw(st.integers(-(2**62), 2**62)))
        elif kind == "TIME":
            value = struct.pack("<q", draw(st.integers(0, 2 * START_NS)))
        elif kind == "TEXT":
            value = sized(draw(names).encode())
        else:
            blob = draw(BLOBS[name])
            if tame and len(blob) < 2:
                continue
            value = sized(blob)
        wire = {"U64": 0, "I64": 0, "TIME": 1}.get(kind, 2)
        body += varint(int(tag) << 2 | wire) + value
    whole = bytes([0xCF, CHUNK]) + sized(body)
    return whole + crc32c(whole)


def test_blobs_of_all_fields_are_made():
    blobs = {name for _, name, kind in FIELDS if kind == "BLOB"}
    assert blobs == {"identity", *BLOBS}


# ---- there and back ------------------------------------------------------------------


def filled(core, records):
    core.set_fact("monitor_errors", 0)
    for record in records:
        core.add_frames(record, True)
    core.offer(START_NS, 2, 2)
    core.add_sample("w é", START_NS + 10**9, {"worker_memory": 1e9, "worker_cpu": 0.1})
    core.finish(10**10)
    return core


def new():
    return _core.Run(0, START_NS, "host")


LIVE = "  its run file could not be written, this is the live file\n"


def all_of(core):
    """What a run in C says, bit by bit."""
    chunks = core.chunks()
    return {
        "frames": chunks,
        "dicts": [dict(_probe.read_frames(chunk[0])[0]) for chunk in chunks],
        "tracking": core.tracking(),
        "progress": core.progress(),
        "text": core.page("text").replace(LIVE, ""),
        **{f"metrics/{key}": value for key, value in core.metrics().items()},
    }


@quick
@given(st.lists(frames(), max_size=3))
def test_records_of_every_field_come_back_from_a_run_file(records):
    live = filled(new(), records)
    with tempfile.TemporaryDirectory() as folder:
        live.save(Path(folder) / "x")
        loaded = _core.open_run(Path(folder) / "x")
        assert differing(all_of(live), all_of(loaded)) == []


@quick
@given(st.lists(frames(), max_size=3))
def test_records_of_every_field_come_back_from_a_live_file(records):
    with tempfile.TemporaryDirectory() as folder:
        live = new()
        live.live_open(Path(folder) / "x")
        filled(live, records)
        live.live_close(False)
        loaded = _core.open_run(Path(folder) / "x")
        assert differing(all_of(live), all_of(loaded)) == []


@quick
@given(st.lists(frames(), max_size=3))
def test_records_of_every_field_come_back_from_json(records):
    live = Run(filled(new(), records))
    with tempfile.TemporaryDirectory() as folder:
        place = saved_in_json(live, folder, "x")
        metrics, _, _ = roastcoffea.load_measurement(place)
    assert same(without_nan(live.chunk_metrics), metrics["raw_chunk_metrics"])


@quick
@given(st.lists(frames(tame=True), max_size=4))
def test_records_come_back_from_a_measurement_without_a_run_file(records):
    live = Run(filled(new(), records))
    with tempfile.TemporaryDirectory() as folder:
        place = saved_in_json(live, folder, "x")
        imported = roastcoffea.open_run(place)
        for before, after in zip(
            live.chunk_metrics, imported.chunk_metrics, strict=True
        ):
            found = differing(without_nan(before), without_nan(after))
            # {} and "" are None
            assert [x for x in found if (x[1] or None) != (x[2] or None)] == []


def without_nan(value):
    """metrics.json is strict: what is no number is null."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    return [without_nan(item) for item in value] if isinstance(value, list) else value


dicts = st.dictionaries(
    st.one_of(names, st.sampled_from(["num_events", "duration", "timing", "file"])),
    st.one_of(values, st.tuples(values, values), st.datetimes(), st.dates()),
    max_size=6,
)


@quick
@given(st.lists(dicts, max_size=4))
@pytest.mark.filterwarnings("ignore")
def test_records_made_by_hand_come_back_with_all_they_hold(records):
    recorder = RunRecorder()
    recorder.begin({}, 0.0)
    live = Run(recorder.core, recorder=recorder)
    live.set_chunk_metrics(records)
    recorder.finish(time.monotonic_ns())
    with tempfile.TemporaryDirectory() as folder:
        loaded = roastcoffea.open_run(live.save(Path(folder) / "x"))
        both = [run._notes.list("records").items for run in (live, loaded)]
        assert same(*both)
        assert same(live.chunk_metrics, loaded.chunk_metrics)
