# SPDX-License-Identifier: BSD-3-Clause
"""What Dask's scheduler saw, into a Run: batches made by hand."""

from __future__ import annotations

import math
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import _core, _probe

ITEMS = _core.batch_items()
START_S = 1_760_000_000
START_NS = START_S * 10**9
HOME = "tcp://10.0.0.7:1234"
Seen = dict[str, Any]


def item(
    name: str, *fields: float, texts: tuple[str, ...] = (), tail: bytes = b""
) -> bytes:
    number, layout, count = ITEMS[name]
    assert count == len(texts)
    coded = [text.encode() for text in texts]
    sized = b"".join(struct.pack("<H", len(text)) + text for text in coded)
    return bytes([number]) + struct.pack(f"<{layout}", *fields) + sized + tail


def joined(
    number: int = 0, address: str = HOME, at: float = 0, threads: int = 4
) -> bytes:
    named = item("worker", number, texts=(address,))
    about = (START_S + at, threads, 2.0**30, 77 + number)
    return named + item("joined", number, *about, texts=("w", "10.0.0.7"))


def task(key: str, end: int, ours: bool = True, worker: int = 0) -> bytes:
    times = (START_S + 1.0, START_S + 2.0, START_S + 3.0)
    mark = end + (128 if ours else 0)
    return item("task", zlib.crc32(key.encode()), 0, worker, mark, *times)


def new_run() -> _core.Run:
    return _core.Run(0, START_NS, "here")


def losses(run: _core.Run) -> Seen:
    found: Seen = run.metrics()["losses"]
    return {name: count for name, count in found.items() if "scheduler" in name}


def test_lists_are_those_of_the_library() -> None:
    assert ITEMS["task"] == (7, "IHIBddd", 0)
    assert ITEMS["joined"] == (4, "IdIdI", 2)
    assert len({number for number, _, _ in ITEMS.values()}) == len(ITEMS)
    names = _core.series_names()
    assert names[:3] == ("memory", "memory_limit", "active_tasks")
    assert len(set(names)) == len(names) == len(_core.series_value_keys())


def test_rules_are_those_of_the_library() -> None:
    rules = _core.batch_rules()
    assert rules["ends"]["ok"] == 1
    assert sorted(rules["ends"].values()) == [*range(1, len(rules["ends"]) + 1)]
    assert rules["ours"] > max(rules["ends"].values())
    assert rules["no_worker"] == 2**32 - 1
    assert rules["most_workers"] < rules["no_worker"]
    assert rules["most_prefixes"] == 2**16
    for text in rules["reasons"].values():
        assert len(text) < rules["most_text_bytes"]


@pytest.mark.parametrize(
    ("reason", "ended"),
    [
        ("memory", "killed for memory"),
        ("silent", "no heartbeat"),
        ("closed", "closed"),
        ("connection", "unknown"),
    ],
)
def test_reasons_of_the_rules_are_recognised(reason: str, ended: str) -> None:
    run = new_run()
    words = _core.batch_rules()["reasons"][reason]
    left = item("left", 0, START_S + 6.0, 0, texts=(f"{words}: and more",))
    run.add_batch(joined() + left, 0)
    run.finish(10 * 10**9)
    (lost,) = run.metrics()["lost_workers"]
    assert lost["ended"] == ended


def test_a_batch_is_read() -> None:
    run = new_run()
    prefix = item("prefix", 0, texts=("process",))
    value = struct.pack("<d", 5e8)
    tick = item("tick", START_S + 5, 1, 4, 2) + item("sample", 0, 1, tail=value)
    tasks = task("a", 1) + task("b", 4) + task("c", 1, ours=False)
    run.add_batch(joined() + prefix + tasks + tick, 0)
    left = item("left", 0, START_S + 6.0, 0, texts=("exceeded memory",))
    run.add_batch(task("d", 1) + left, 0)  # names are known from the batch before
    seen = run.tasks_seen()
    assert seen == {
        "ours": {"ok": 2, "lost": 1},
        "foreign": {"ok": 1},
        "joined": 1,
        "present": 0,
    }
    assert run.tracking()["worker_memory"].keys() == {HOME}
    run.finish(10 * 10**9)
    metrics = run.metrics()
    assert metrics["offered_thread_seconds"] == pytest.approx(6 * 4)
    assert metrics["peak_workers"] == 1
    assert losses(run) == {}


def test_the_clock_of_the_scheduler_is_turned_into_ours() -> None:
    run = new_run()
    run.add_batch(joined(at=-7), 10 * 10**9)  # at 3 s of the client's clock
    run.finish(10 * 10**9)
    assert run.metrics()["offered_thread_seconds"] == pytest.approx(7 * 4)


def test_frames_come_with_their_task() -> None:
    run = new_run()
    frame = _probe.frame_of({"dataset": "ttbar", "num_events": 7}, 0)
    packed = item("frames", 0, zlib.crc32(b"a"), len(frame), tail=frame)
    run.add_batch(joined() + packed + packed[:-1] + b"!", 0)
    assert run.progress()["begun"] == 1
    assert run.metrics()["losses"] == {"frames_damaged": 1}


def test_invalid_items_are_reported_after_valid_ones_are_read() -> None:
    run = new_run()
    with pytest.raises(_probe.RoastError, match="batch"):
        run.add_batch(joined() + b"\xff" + joined(1, "tcp://other:1"), 0)
    assert run.tasks_seen()["joined"] == 1
    assert losses(run) == {"scheduler_unread": 1}
    with pytest.raises(_probe.RoastError):
        run.add_batch(joined()[:-1], 0)
    run.add_batch(b"", 0)
    run.add_batch(joined(1, "tcp://other:1"), 0)
    assert run.tasks_seen()["joined"] == 2


def test_an_item_that_makes_no_sense_is_passed_over() -> None:
    run = new_run()
    unrelated = item("left", 9, START_S + 6.0, 0, texts=("who?",))
    with pytest.raises(_probe.RoastError, match="item left of a batch"):
        run.add_batch(unrelated + unrelated + joined(), 0)
    assert run.tasks_seen()["joined"] == 1
    assert losses(run) == {"scheduler_unread": 2}


def test_names_in_a_page_that_cannot_be_read_spoil_no_later_page() -> None:
    run = new_run()
    with pytest.raises(_probe.RoastError):
        run.add_batch(b"\xff" + joined(0) + joined(1, "tcp://other:1"), 0)
    run.add_batch(joined(2, "tcp://third:1"), 0)
    assert run.tasks_seen()["joined"] == 1
    assert losses(run) == {"scheduler_unread": 1}


def test_what_the_plugin_dropped_is_a_loss() -> None:
    run = new_run()
    run.add_batch(item("dropped", 1, 2, 3), 0)
    run.add_batch(item("dropped", 1, 2, 3), 0)
    run.add_batch(item("dropped", 5, 2, 3), 0)
    assert losses(run) == {"scheduler_dropped": 10}


def test_two_schedulers_have_numbers_of_their_own() -> None:
    run = new_run()
    run.add_batch(joined(0, "tcp://one:1"), 0, "one")
    run.add_batch(joined(0, "tcp://two:1"), 0, "two")
    run.add_batch(item("dropped", 1, 0, 0), 0, "one")
    run.add_batch(item("dropped", 1, 0, 0), 0, "two")
    assert run.tasks_seen()["present"] == 2
    assert losses(run) == {"scheduler_dropped": 2}


def test_threads_may_bring_batches() -> None:
    run = new_run()
    run.add_batch(joined() + item("prefix", 0, texts=("p",)), 0)

    def bring() -> None:
        for number in range(200):
            run.add_batch(task(str(number), 1) * 5, 0)

    threads = [threading.Thread(target=bring) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run.tasks_seen()["ours"] == {"ok": 4 * 200 * 5}


def test_odd_activities_are_counted_and_skipped() -> None:
    run = new_run()
    run.set_activities(
        {
            ("execute", "process", "thread-cpu", "seconds"): 1.5,
            ("get-data", "network", "seconds"): 2,
            ("execute", "process", 7, "seconds"): 1.0,
            ("too", "short"): 1.0,
            ("execute", "process", "a", "seconds"): "one",
            ("execute", "process", "b", "seconds"): math.nan,
            ("execute", "process", "\ud800", "seconds"): 1.0,
            "text": 1.0,
        }  # type: ignore[dict-item]
    )
    assert losses(run) == {"scheduler_unread": 6}
    with pytest.raises((TypeError, AttributeError)):
        run.set_activities(5)  # type: ignore[arg-type]


def test_odd_hot_lines_are_counted_and_skipped() -> None:
    run = new_run()
    good = ("analysis.py", 12, "process", "x = 1", 1.5, 0.5)
    odd: list[Any] = [("a", -1, "b", "c", 0, 0), 5, ("a",), (1, 2, 3, 4, 5, 6)]
    run.add_hot_lines([good, ("analysis.py", 13, "process", None, 1.0, 1.0), *odd])
    assert losses(run) == {"scheduler_unread": 4}
    with pytest.raises(TypeError):
        run.add_hot_lines(5)  # type: ignore[arg-type]

    def broken() -> Any:
        yield good
        raise LookupError("no more")

    with pytest.raises(LookupError):
        run.add_hot_lines(broken())


def test_a_killed_client_leaves_what_the_scheduler_saw(tmp_path: Path) -> None:
    run = new_run()
    path = tmp_path / "a.roast-live"
    run.live_open(path)
    run.add_batch(joined() + item("prefix", 0, texts=("p",)) + task("a", 4), 0)
    run.set_activities({("execute", "p", "thread-cpu", "seconds"): 1.0})
    run.live_sync()
    again = _core.open_run(path)
    assert again.tasks_seen() == run.tasks_seen()
    assert again.tasks_seen()["ours"] == {"lost": 1}
