# SPDX-License-Identifier: BSD-3-Clause
"""Tables and columns as Python objects: mappings, sequences, buffers, how they show."""

from __future__ import annotations

import gc
import re
import sys

import numpy as np
import pytest

from roastcoffea import _core
from support import MIB, ROOT, SANITIZED, rss_bytes
from tables import EPOCH_NS, TABLES, chunk, empty_run, large_run, made_run, mixed_run


@pytest.fixture(name="chunks")
def make_chunks():
    return mixed_run().table("chunks")


# ---- tables --------------------------------------------------------------------------


def test_a_table_is_a_mapping_of_names(chunks):
    assert len(chunks) == 3
    assert list(chunks) == list(chunks.names) == list(chunks.keys())
    assert len(set(chunks.names)) == len(chunks.names) == len(chunks.columns)
    assert [column.name for column in chunks.columns] == list(chunks.names)
    assert "duration" in chunks
    assert "no such" not in chunks
    assert 3 not in chunks
    assert dict(chunks)["duration"].to_list() == [1.5, None, None]


def test_unknown_column_is_an_error(chunks):
    with pytest.raises(KeyError, match="no such"):
        chunks["no such"]
    with pytest.raises(KeyError):
        chunks["\udc80"]
    with pytest.raises(TypeError, match="found by name, not by 0"):
        chunks[0]


def test_unknown_table_or_series_is_an_error():
    run = empty_run()
    with pytest.raises(KeyError, match="no table 'chunk'"):
        run.table("chunk")
    with pytest.raises(KeyError, match="no series 'speed'"):
        run.samples("speed")
    with pytest.raises(TypeError):
        run.table(1)


def test_all_values_are_plain_and_none_is_unknown(chunks):
    values = chunks.to_dict()
    assert values["chunk_id"] == [0, 1, 2]
    assert values["dataset"] == ["ttbar", "", "ttbar"]
    assert values["file"] == ["a.root", "b.root", "\U0001f525 é/中.root"]
    assert values["undecorated"] == [True, False, False]
    assert values["undecorated"][0] is True
    assert values["bytes_read"] == [None, 2**62, None]
    assert values["open_s"] == [None, 0.25, None]
    assert values["uuid"] == [None] * 3
    assert values["pid"] == [7, None, None]
    assert values["worker"] == [None] * 3  # made by hand: no process


def test_rows_are_dicts(chunks):
    rows = chunks.rows()
    assert [row["chunk_id"] for row in rows] == [0, 1, 2]
    assert rows[0] == {name: values[0] for name, values in chunks.to_dict().items()}
    assert chunks.rows(1, 2) == rows[1:2]
    assert chunks.rows(-5, 100) == rows
    assert chunks.rows(2, 1) == chunks.rows(0, -1) == []


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_there(name):
    for run in (empty_run(), mixed_run(), large_run(100)):
        table = run.table(name)
        values = table.to_dict()
        assert {len(column) for column in values.values()} == {len(table)}
        for column in table.columns:
            assert column.unknown == values[column.name].count(None)
            assert column.meaning
        assert repr(table).startswith(f"{len(table)} rows x {len(table.names)} columns")


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_documented(name):
    page = (ROOT / "docs" / "tables.md").read_text()
    lists = [name, "ladder"] if name == "chunks" else [name]
    parts = [page.partition(f"<!-- {part} -->")[2] for part in lists]
    lines = [line for p in parts for line in p.partition("<!-- end")[0].splitlines()]
    rows = [re.split(r" *(?<!\\)\| *", line)[1:-1] for line in lines]
    documented = [tuple(row) for row in rows if len(row) == 4 and row[1].isupper()]
    kinds = {"int64": "INT64", "float64": "DOUBLE"}
    assert documented == [
        (c.name, kinds.get(c.type, c.type.upper()), c.unit or "none", c.meaning)
        for c in empty_run().table(name).columns
    ]


def test_samples_of_one_series_by_either_name():
    run = mixed_run()
    memory = run.samples("memory")
    assert memory.to_dict() == run.samples("worker_memory").to_dict()
    assert memory.to_dict() == {
        "worker": ["w1", "w1"],
        "time": [EPOCH_NS + 10**9, EPOCH_NS + 2 * 10**9],
        "value": [5e6, 6e6],
    }
    assert len(run.samples("cpu")) == 0


def test_a_table_outlives_its_run_and_does_not_change():
    run = mixed_run()
    chunks = run.table("chunks")
    duration = chunks["duration"]
    before = chunks.to_dict()
    run.add_frames(chunk() * 1000, True)
    assert len(run.table("chunks")) == 1003
    del run
    gc.collect()
    assert chunks.to_dict() == before
    del chunks
    gc.collect()
    assert duration.to_list() == [1.5, None, None]


@pytest.mark.parametrize("kind", [_core.Table, _core.Column])
def test_only_runs_make_tables(kind):
    with pytest.raises(TypeError, match="cannot create"):
        kind()
    with pytest.raises(TypeError):
        kind.name = 1


# ---- columns -------------------------------------------------------------------------


def test_a_column_is_a_sequence(chunks):
    column = chunks["num_events"]
    assert (column.name, column.type, column.unit) == ("num_events", "int64", "")
    assert len(column) == 3
    assert list(column) == column.to_list() == [10, None, None]
    assert (column[0], column[-1], column[-3]) == (10, None, 10)
    assert column[:2] == [10, None]
    assert column[::-1] == [None, None, 10]
    assert column[5:] == []
    assert 10 in column
    for row in (3, -4, 2**70):
        with pytest.raises(IndexError):
            column[row]
    with pytest.raises(TypeError):
        column["a"]
    assert repr(column) == "<Column num_events: 3 x int64, 2 unknown>"
    assert repr(chunks["duration"]).startswith("<Column duration: 3 x float64 in s")


def test_a_column_is_a_buffer_without_a_copy(chunks):
    formats = {"int64": "q", "float64": "d", "bool": "?", "time": "q", "text": "i"}
    for column in chunks.columns:
        view = memoryview(column)
        assert view.readonly
        assert view.format == formats[column.type]
        assert view.shape == (3,)
        assert view.c_contiguous
        one, two = np.asarray(column), np.asarray(column)
        assert np.shares_memory(one, two)
        assert not one.flags.writeable
    assert np.asarray(chunks["bytes_read"]).tolist() == [0, 2**62, 0]
    with pytest.raises(TypeError):
        memoryview(chunks["pid"])[0] = 1


def test_an_array_keeps_its_table_alive():
    array = np.asarray(large_run(10_000).table("chunks")["num_events"])
    gc.collect()
    assert array.sum() == 9000 * 100


def test_what_is_known_is_a_bitmap(chunks):
    assert chunks["chunk_id"].valid is None
    assert chunks["chunk_id"].unknown == 0
    assert chunks["num_events"].valid == b"\x01"
    assert chunks["bytes_read"].valid == b"\x02"
    assert chunks["uuid"].valid == b"\x00"
    assert chunks["num_events"].unknown == 2


def test_texts_have_words_and_ids(chunks):
    column = chunks["dataset"]
    assert column.words == ["ttbar", ""]
    assert column.ids.tolist() == [0, 1, 0]
    column.words.append("not kept")
    assert column.words == ["ttbar", ""]
    with pytest.raises(AttributeError, match="only columns of texts have words"):
        _ = chunks["pid"].words
    with pytest.raises(AttributeError, match="only columns of texts have ids"):
        _ = chunks["pid"].ids


def test_texts_from_damaged_frames_are_texts():
    run = made_run(chunk(file=b"a\xff\xed\xa0\x80.root"), chunk(file="\0"))
    names = run.table("chunks")["file"].to_list()
    assert names == ["a\ufffd\ufffd\ufffd\ufffd.root", "\0"]


# ---- shown ---------------------------------------------------------------------------


def test_a_table_shows_its_first_rows():
    text = repr(large_run(100).table("chunks"))
    lines = text.splitlines()
    assert lines[0] == "100 rows x 54 columns"
    assert lines[1].split()[:4] == ["chunk_id", "attempt", "dataset", "file"]
    assert "... 90 more rows" in lines
    assert max(map(len, lines)) <= 100
    assert "... and" in text
    assert "hooks_missing" in text


def test_nothing_in_a_text_acts():
    hostile = "\x1b[31m<script>alert(1)</script>&\u202e\n"
    table = made_run(chunk(dataset=hostile)).table("datasets")
    assert "\x1b" not in repr(table)
    assert "\u202e" not in repr(table)
    page = table._repr_html_()
    assert "<script" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


def test_an_empty_table_shows_too():
    table = empty_run().table("findings")
    assert repr(table).splitlines()[1].startswith("id  severity")
    assert "0 rows x 9 columns" in table._repr_html_()


# ---- memory --------------------------------------------------------------------------


def test_nothing_is_left_behind():
    run = mixed_run()
    run.table("chunks").to_dict()
    gc.collect()
    before = [sys.getrefcount(kind) for kind in (_core.Table, _core.Column)]
    for _ in range(50):
        table = run.table("chunks")
        columns = table.columns
        views = [memoryview(column) for column in columns]
        arrays = [column.to_numpy() for column in columns]
        texts = repr(table), table._repr_html_(), table.rows(), columns[2].words
        del table, columns, views, arrays, texts
    gc.collect()
    assert [sys.getrefcount(kind) for kind in (_core.Table, _core.Column)] == before


@pytest.mark.skipif(SANITIZED, reason="freed memory stays in quarantine")
def test_tables_give_their_memory_back():
    run = large_run(100_000)  # some 15 MiB each

    def make():
        table = run.table("chunks")
        return np.asarray(table["duration"]).sum() + len(table.columns)

    make()
    before = rss_bytes()
    for _ in range(40):
        make()
    assert rss_bytes() - before < 150 * MIB
