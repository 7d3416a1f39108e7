# SPDX-License-Identifier: BSD-3-Clause
"""Data of a scheduler, live, saved and loaded: the same, table by table."""

from __future__ import annotations

import re
import struct
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handmade_frames import BEGIN, crc32c, sized, varint
from roastcoffea import _core
from saved_run_samples import differing
from support import ROOT
from tables import TABLES

LIST = (ROOT / "include" / "roast" / "task_ends.def").read_text()
ENDS = [int(number) for number in re.findall(r"^E\((\d+), ", LIST, re.MULTILINE)]
ITEMS = _core.batch_items()
START_S = 1_700_000_000
END = 0x13
RUN_ID = b"the run of tests"
NOBODY = 2**32 - 1
quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

# ---- what a scheduler may say --------------------------------------------------------

letters = st.characters(codec="utf-8", exclude_characters="\0?#:@= ")
names = st.text(letters, max_size=9)
whole = st.integers(0, 2**32 - 1)
moments = st.one_of(
    st.just(float("nan")), st.floats(0, 1000).map(lambda s: START_S + s)
)
WORKERS = ("tcp://10.0.0.7:1", "tcp://10.0.0.7:2", "tls://é:3")
PREFIXES = ("MyProcessor", "reduce", "automatic_retries", "é")


def frame(kind: int, body: bytes) -> bytes:
    whole = bytes([0xCF, kind]) + sized(body)
    return whole + crc32c(whole)


def item(name: str, *fields: float, texts: tuple[str, ...] = ()) -> bytes:
    number, layout, count = ITEMS[name]
    assert count == len(texts)
    coded = [text.encode() for text in texts]
    tail = b"".join(struct.pack("<H", len(text)) + text for text in coded)
    return bytes([number]) + struct.pack(f"<{layout}", *fields) + tail


def named() -> bytes:
    workers = [item("worker", i, texts=(w,)) for i, w in enumerate(WORKERS)]
    prefixes = [item("prefix", i, texts=(p,)) for i, p in enumerate(PREFIXES)]
    return b"".join(workers + prefixes)


worker = st.integers(0, len(WORKERS) - 1)
hashes = st.one_of(st.just(1), st.just(2), whole)


@st.composite
def joins(draw: Any) -> bytes:
    limit = draw(st.sampled_from([0.0, 2.0**30]))
    about = (draw(worker), draw(moments), draw(st.integers(0, 64)), limit, draw(whole))
    return item("joined", *about, texts=(draw(names), draw(names)))


@st.composite
def leaves(draw: Any) -> bytes:
    about = (draw(worker), draw(moments), draw(st.booleans()))
    return item("left", *about, texts=(draw(names),))


@st.composite
def tasks(draw: Any) -> bytes:
    who = draw(st.one_of(worker, st.just(NOBODY)))
    end = draw(st.sampled_from(ENDS)) + draw(st.sampled_from([0, 128]))
    prefix = draw(st.integers(0, len(PREFIXES) - 1))
    times = (draw(moments), draw(moments), draw(moments))
    return item("task", draw(hashes), prefix, who, end, *times)


@st.composite
def attempts(draw: Any) -> bytes:
    """Frames of an attempt: it began, and may have ended. A process has one worker."""
    of = draw(worker)
    process = b"process%d" % of
    sequence = draw(st.integers(1, 4)).to_bytes(4, "little")
    identity = varint(1 << 2 | 2) + sized(RUN_ID + process + sequence)
    start = struct.pack("<q", (START_S + draw(st.integers(0, 900))) * 10**9)
    reported = frame(BEGIN, identity + varint(3 << 2 | 1) + start)
    if draw(st.booleans()):
        reported += frame(END, identity + varint(6 << 2) + varint(1))
    return item("frames", of, draw(hashes), len(reported)) + reported


delays = st.builds(lambda w, s: item("delay", w, s), worker, st.floats(-9, 9))
batches = st.lists(
    st.one_of(tasks(), attempts(), joins(), leaves(), delays), max_size=20
).map(lambda items: named() + b"".join(items))
finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
activities = st.dictionaries(st.tuples(names, names, names, names), finite, max_size=4)
hot_lines = st.lists(
    st.tuples(
        names, st.integers(0, 2**31), names, st.none() | names, finite, finite
    ).filter(lambda line: abs(line[4]) < 1e300 and abs(line[5]) < 1e300),
    max_size=4,
)
reported = st.tuples(batches, activities, hot_lines)

# ---- there and back ------------------------------------------------------------------


def new() -> Any:
    return _core.Run(0, START_S * 10**9, "host")


def tell(run: Any, batch: bytes, sums: dict[Any, float], lines: list[Any]) -> None:
    run.accept(RUN_ID)
    run.add_batch(batch, 250_000_000, WORKERS[0])
    run.set_activities(sums)
    run.add_hot_lines(lines)
    run.finish(10**12)


def all_of(run: Any) -> dict[str, Any]:
    tables = {name: run.table(name).to_dict() for name in TABLES}
    return tables | {"seen": run.tasks_seen(), "frames": run.chunks()}


@quick
@given(reported)
def test_what_a_scheduler_saw_comes_back_from_a_run_file(reported: Any) -> None:
    live = new()
    tell(live, *reported)
    with tempfile.TemporaryDirectory() as folder:
        live.save(Path(folder) / "x")
        loaded = _core.open_run(Path(folder) / "x")
        assert differing(all_of(live), all_of(loaded)) == []
        loaded.save(Path(folder) / "y")  # from what was loaded, not what was stored
        again = _core.open_run(Path(folder) / "y")
        assert differing(all_of(live), all_of(again)) == []


@quick
@given(reported)
def test_what_a_scheduler_saw_comes_back_from_a_live_file(reported: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        live = new()
        live.live_open(Path(folder) / "x")
        tell(live, *reported)
        live.live_close(False)
        loaded = _core.open_run(Path(folder) / "x")
        assert differing(all_of(live), all_of(loaded)) == []
