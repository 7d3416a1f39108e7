# SPDX-License-Identifier: BSD-3-Clause
"""Write the seeds of the corpus of batches: python3 tests/fuzz/make_corpus_batch.py

They are packed with Python's struct from dask_batch_items.def, as the scheduler does
it. The first byte says where the second batch begins.
"""

from __future__ import annotations

import re
import struct
from typing import Any

from make_corpus import CORPUS

T0 = 1_760_000_000.0
NAN = float("nan")
LIST = CORPUS.parents[2] / "include" / "roast" / "dask_batch_items.def"
ROWS = re.findall(r'^I\((\d+), (\w+), "(\w+)"', LIST.read_text(), re.MULTILINE)
KINDS = {name: (int(number), "<B" + form) for number, name, form in ROWS}


def item(name: str, *values: Any, texts: tuple[bytes, ...] = (), tail: bytes = b""):
    """One item."""
    number, form = KINDS[name]
    data = struct.pack(form, number, *values)
    return data + b"".join(struct.pack("<H", len(t)) + t for t in texts) + tail


def doubles(*values: float) -> bytes:
    """What follows a sample."""
    return struct.pack(f"<{len(values)}d", *values)


NAMES = b"".join(
    [
        item("worker", 0, texts=(b"tcp://a:1",)),
        item("joined", 0, T0, 4, 2e9, 4711, texts=(b"alice", b"a")),
        item("worker", 1, texts=(b"tcp://b:2",)),
        item("joined", 1, T0, 1, 0.0, 0, texts=(b"1", b"b")),
        item("prefix", 0, texts=(b"Processor",)),
        item("prefix", 1, texts=(b"reduce",)),
    ]
)
TASKS = b"".join(
    item("task", 9, n % 2, n % 2, n + 128 * (n % 2), T0, T0 + 1, T0 + n)
    for n in range(1, 8)
)
LEFT = item("left", 0, T0 + 9, 1, texts=(b"retired",)) + item(
    "left", 1, T0 + 9, 0, texts=(b"",)
)
SAMPLES = b"".join(
    [
        item("tick", T0 + 2, 2, 5, 3),
        item("sample", 0, 0b10011, tail=doubles(1e9, 2e9, 0.5)),
        item("sample", 1, 1 << 7, tail=doubles(T0)),
        item("sample", 1, 2**20 - 1, tail=doubles(*range(20))),
        item("delay", 0, 0.25),
        item("delay", 1, -3600.0),
    ]
)
FRAMES = item("frames", 0, 9, 5, tail=b"frame")
LOST = item("dropped", 3, 2, 1)
WHOLE = NAMES + FRAMES + TASKS + SAMPLES + LEFT + LOST

SEEDS = {
    "nothing": b"",
    "whole": b"\xff" + WHOLE,
    "in_two": bytes([255 * len(NAMES) // len(WHOLE)]) + WHOLE,
    "twice": b"\x80" + WHOLE + WHOLE,
    "cut": b"\x00" + WHOLE[: len(WHOLE) // 2],
    "times_unknown": b"\xff" + NAMES + item("task", 9, 0, 0, 1, NAN, NAN, 1e308),
    "task_of_unknown_worker": b"\xff"
    + NAMES
    + item("task", 9, 0, 2**32 - 1, 5, T0, NAN, T0),
    "worker_out_of_turn": b"\xff" + item("worker", 999_999, texts=(b"x",)),
    "many_workers": b"\xff"
    + b"".join(item("worker", n, texts=(b"%03d" % n,)) for n in range(200)),
    "many_hosts": b"\xff"
    + b"".join(
        item("worker", n, texts=(b"x",))
        + item("joined", n, T0, 1, 0.0, 0, texts=(b"", b"%d" % n))
        + item("delay", n, 0.5)
        for n in range(100)
    ),
    "text_too_long": b"\xff" + item("worker", 0, texts=(b"x" * 1025,)),
    "frames_past_the_end": b"\xff" + NAMES + item("frames", 0, 9, 2**32 - 1),
    "mask_of_a_later_time": b"\xff" + NAMES + item("sample", 0, 2**32 - 1),
    "kind_unknown": b"\xff\x00\x0b",
}


def main() -> None:
    """Write every seed."""
    folder = CORPUS / "batch"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
    print(f"{len(SEEDS)} seeds in {folder}")


if __name__ == "__main__":
    main()
