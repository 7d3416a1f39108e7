# SPDX-License-Identifier: BSD-3-Clause
"""Chunk records of measurement directories: they say the same in JSON and in Python.

Records that others made become the frames that ``frame_of`` makes of their dicts. Ours
come back as they were: every key of every chunk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement_dirs import assert_same_records, imported, records_of
from roastcoffea import _core, _probe, track_bytes, track_memory, track_time
from support import KEY, CountedEvents, make_processor, measure

quick = settings(max_examples=150, deadline=None)


def passed_records(record: dict[str, Any]) -> Any:
    core = _core.Run(0, 0)
    core.add_frames(_probe.frame_of(record, 1), True)
    return core


# ---- records of others ---------------------------------------------------------------

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 2e9),
    names,
)
scalars = st.one_of(numbers, st.just("failed"), st.text(":/@?=a ", max_size=12))


def table(*keys: str) -> Any:
    return st.dictionaries(st.sampled_from(keys), numbers, max_size=4)


sums = st.dictionaries(names, numbers, max_size=4)
VIEWS = (
    "dataset file filename treename uuid entry_start entry_stop num_events t_start"
    " t_end timestamp duration cpu_time task_time status worker host pid thread"
    " mem_before_mb mem_after_mb mem_peak_mb memory_start_gb memory_end_gb bytes_read"
    " bytes_before_process first_chunk undecorated gc_time gc_runs gil_wait open_bytes"
    " storage_wait monitor_time monitor_errors monitor_first_error error error_type"
    " error_message error_section"
).split()
PARTS = {
    "timing": sums,
    "memory": sums,
    "bytes": sums,
    "sections": st.lists(table("section_name", "time_delta", "count"), max_size=3),
    "ladder": table("import", "open", "form", "fetch", "compute", "unnamed", "other"),
    "branches": st.dictionaries(
        names, table("bytes", "uncompressed_bytes", "seconds", "reads"), max_size=3
    ),
    "accessed_branches": st.lists(st.one_of(names, st.just("a")), max_size=4),
    "offset_branches": st.lists(names, max_size=2),
    "endpoints": st.dictionaries(
        names, table("requests", "ranges", "bytes", "wait", "errors"), max_size=2
    ),
    "file_metadata": st.fixed_dictionaries(
        {},
        optional={
            "kind": st.sampled_from(["ttree", "parquet", "x"]),
            "codec": st.sampled_from(["zlib", "zstd", 3]),
            "total_branches": numbers,
            "num_entries": numbers,
            "compressed_bytes": numbers,
            "uncompressed_bytes": numbers,
            "total_tree_bytes": numbers,
            "compression_ratio": numbers,
            "branch_bytes": sums,
        },
    ),
}
hand_made = st.fixed_dictionaries({}, optional=dict.fromkeys(VIEWS, scalars) | PARTS)


@quick
@given(record=hand_made)
def test_a_record_of_others_is_what_python_makes_of_it(
    record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "hand_made"
    run = imported(folder, {"raw_chunk_metrics": [record]})
    ((expected, *_),) = passed_records(record).chunks()
    ((frame, *_),) = run._core.chunks()
    assert _probe.read_frames(frame)[0] == _probe.read_frames(expected)[0]
    assert frame == expected


def test_unknown_keys_are_the_users(tmp_path: Path) -> None:
    record = {"mine": [1, {"a": None}], "custom_metrics": {"b": 2.5}, "chunk_id": 7}
    (found,) = records_of(imported(tmp_path, {"raw_chunk_metrics": [record]}))
    assert found["mine"] == [1, {"a": None}]
    assert found["custom_metrics"] == {"b": 2.5}
    assert "chunk_id" not in found


# ---- records of ours -----------------------------------------------------------------

# What a chunk does: sections of a kind and name with others inside.
steps = st.recursive(
    st.just([]),
    lambda inner: st.lists(
        st.tuples(st.sampled_from("tttmb"), st.sampled_from("xyz"), inner), max_size=3
    ),
    max_leaves=8,
)


def walk(processor: Any, events: Any, todo: list[Any]) -> None:
    for kind, name, inner in todo:
        if kind == "t":
            section = track_time(processor, name)
        elif kind == "m":
            section = track_memory(processor, f"memory of {name}")
        else:
            section = track_bytes(processor, events, f"bytes of {name}")
        with section:
            if kind == "b":
                events.source.num_requested_bytes += 100
            walk(processor, events, inner)


@quick
@given(todo=steps)
def test_section_trees_come_back(
    todo: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = measure(lambda self, events: walk(self, events, todo), CountedEvents())
    assert_same_records(tmp_path_factory.getbasetemp() / "trees", [dict(record)])


def test_values_of_users_come_back(tmp_path: Path) -> None:
    def work(self: Any, events: Any) -> None:
        chunk = self._roastcoffea_current_chunk
        chunk["mine"] = {"a": 1.5, "b": [1, "x", b"\0\xff"], "t": (1, 2), "u": None}
        chunk["timing"] = {"by_hand": 0.25}
        chunk["deep"] = [[[[[[[1]]]]]]]
        chunk["__tuple__"] = {"__bytes__": 3}

    assert_same_records(tmp_path, [dict(measure(work))])


def test_records_of_one_process_are_distinct(tmp_path: Path) -> None:
    processor = make_processor(lambda self, events: {"n": 1})
    outputs = [processor.process(CountedEvents()) for _ in range(3)]
    records = [dict(out[KEY][0]) for out in outputs]
    assert_same_records(tmp_path, records)
