# SPDX-License-Identifier: BSD-3-Clause
"""Tables through Arrow's interfaces, in the packages that people use."""

from __future__ import annotations

import ctypes
import gc
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from support import MIB, SANITIZED, rss_bytes
from tables import EPOCH_NS, TABLES, chunk, empty_run, large_run, made_run, mixed_run

RUNS = {"empty": empty_run, "mixed": mixed_run, "large": lambda: large_run(1000)}
ARROW_TYPES = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "time": pa.timestamp("ns", "UTC"),
    "text": pa.dictionary(pa.int32(), pa.large_string()),
}


def as_ns(values):
    """Times of Arrow as the ns that ours are."""
    return [None if value is None else value.value for value in values]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", RUNS)
def test_pyarrow_reads_every_table(kind, name):
    table = RUNS[kind]().table(name)
    arrow = pa.table(table)
    arrow.validate(full=True)
    assert arrow.num_rows == len(table)
    assert arrow.column_names == list(table.names)
    for column in table.columns:
        read = arrow[column.name]
        assert read.type == ARROW_TYPES[column.type]
        assert read.null_count == column.unknown
        unit = {b"unit": column.unit.encode()} if column.unit else None
        assert arrow.schema.field(column.name).metadata == unit
        values = read.to_pylist()
        assert (as_ns(values) if column.type == "time" else values) == column.to_list()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", RUNS)
def test_polars_and_duckdb_read_every_table(kind, name):
    ours = RUNS[kind]().table(name)
    expected = ours.to_dict()
    frame = pl.DataFrame(ours)
    names = [
        f'epoch_ns("{column.name}")' if column.type == "time" else f'"{column.name}"'
        for column in ours.columns
    ]
    rows = duckdb.sql(f"select {', '.join(names)} from ours").fetchall()
    assert frame.shape == (len(ours), len(ours.names))
    assert len(rows) == len(ours)
    for number, column in enumerate(ours.columns):
        read = frame[column.name]
        read = read.cast(pl.Int64) if column.type == "time" else read
        assert read.to_list() == expected[column.name]
        assert [row[number] for row in rows] == expected[column.name]


def test_nothing_is_copied_but_flags():
    table = large_run(1000).table("chunks")
    arrow = pa.table(table)
    for column in table.columns:
        if column.type == "bool":
            continue
        array = arrow[column.name].chunk(0)
        values = array.indices if column.type == "text" else array
        address = values.buffers()[1].address
        assert address == np.asarray(column).__array_interface__["data"][0]


def test_queries_see_what_is_unknown():
    chunks = mixed_run().table("chunks")
    count = duckdb.sql(
        "select count(*), count(num_events), sum(duration), max(bytes_read) from chunks"
    )
    assert count.fetchall() == [(3, 1, 1.5, 2**62)]
    frame = pl.DataFrame(chunks)
    assert frame["num_events"].null_count() == 2
    assert frame.filter(pl.col("file") == "b.root")["open_s"].to_list() == [0.25]


def test_a_hundred_thousand_rows():
    chunks = large_run(100_000).table("chunks")
    arrow = pa.table(chunks)
    arrow.validate(full=True)
    assert arrow["num_events"].null_count == 10_000
    grouped = duckdb.sql(
        "select file, count(*), sum(num_events) from chunks group by file order by file"
    )
    assert grouped.fetchall() == [
        ("a.root", 90_000, 9_000_000),
        ("b.root", 10_000, None),
    ]
    frame = pl.DataFrame(chunks)
    assert frame["undecorated"].sum() == 10_000
    assert frame["duration"].sum() == 90_000


def test_texts_of_any_kind():
    names = ["\U0001f525", "", "a\0b", "é" * 1000, "中"]
    broken = b"\xed\xa0\xbd\xff"  # half of an emoji, and no text at all
    frames = [chunk(file=name) for name in names] + [chunk(file=broken)]
    chunks = made_run(*frames).table("chunks")
    expected = [*names, "\ufffd" * 4]
    assert chunks["file"].to_list() == expected
    assert pa.table(chunks)["file"].to_pylist() == expected
    assert pl.DataFrame(chunks)["file"].to_list() == expected
    assert duckdb.sql("select file from chunks").fetchall() == [(n,) for n in expected]


def test_pandas_types():
    run = mixed_run()
    frame = run.table("chunks").to_pandas()
    assert str(frame["chunk_id"].dtype) == "int64"
    assert str(frame["num_events"].dtype) == "Int64"
    assert frame["num_events"].isna().tolist() == [False, True, True]
    assert frame["bytes_read"][1] == 2**62
    assert str(frame["duration"].dtype) == "float64"
    assert frame["duration"].sum() == 1.5
    assert str(frame["undecorated"].dtype) == "bool"
    assert frame["dataset"].dtype == object
    assert frame["file"].tolist() == ["a.root", "b.root", "\U0001f525 é/中.root"]
    assert frame["uuid"].tolist() == [None] * 3
    assert frame["start"].isna().all()
    samples = run.table("samples").to_pandas()
    assert str(samples["time"].dtype) == "datetime64[ns, UTC]"
    assert samples["time"].iloc[-1].value == EPOCH_NS + 2 * 10**9
    failures = run.table("failures").to_pandas()
    assert failures["resolved"].tolist() == [False]
    assert pd.concat([frame, frame]).groupby("dataset").size().to_dict() == {
        "": 2,
        "ttbar": 4,
    }


def test_numpy_shows_what_is_unknown():
    chunks = mixed_run().table("chunks")
    assert np.isnan(chunks["duration"].to_numpy()).tolist() == [False, True, True]
    assert np.isnan(chunks["num_events"].to_numpy()).tolist() == [False, True, True]
    assert np.isnat(chunks["start"].to_numpy()).all()
    assert chunks["chunk_id"].to_numpy().dtype == np.int64
    assert chunks["undecorated"].to_numpy().tolist() == [True, False, False]
    assert chunks["dataset"].to_numpy().tolist() == ["ttbar", "", "ttbar"]
    assert chunks["uuid"].to_numpy().tolist() == [None] * 3
    times = mixed_run().samples("memory")["time"].to_numpy()
    moment = datetime.fromtimestamp(EPOCH_NS / 1e9 + 1, UTC).replace(tzinfo=None)
    assert times[0] == np.datetime64(moment)


def test_pyarrow_is_one_call():
    assert mixed_run().table("chunks").to_arrow().num_rows == 3


# ---- the interfaces themselves -------------------------------------------------------


def test_the_schema_alone():
    table = mixed_run().table("chunks")
    assert pa.schema(table) == pa.table(table).schema


def test_units_come_along_into_files(tmp_path):
    table = mixed_run().table("chunks")
    pa.parquet.write_table(pa.table(table), tmp_path / "chunks.parquet")
    schema = pa.parquet.read_schema(tmp_path / "chunks.parquet")
    assert schema.field("duration").metadata[b"unit"] == b"s"
    assert schema.field("rss_peak_bytes").metadata[b"unit"] == b"bytes"
    assert b"unit" not in (schema.field("dataset").metadata or {})


def test_a_wish_for_another_schema_is_not_an_error():
    table = mixed_run().table("chunks")
    assert table.__arrow_c_stream__(requested_schema=None)
    wish = pa.schema([("chunk_id", pa.int32())]).__arrow_c_schema__()
    assert table.__arrow_c_stream__(wish)
    with pytest.raises(TypeError):
        table.__arrow_c_stream__(1, 2)


def test_a_stream_can_be_taken_once():
    capsule = mixed_run().table("chunks").__arrow_c_stream__()
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    assert name(capsule) == b"arrow_array_stream"
    first = pa.RecordBatchReader._import_from_c_capsule(capsule)
    assert first.read_all().num_rows == 3
    with pytest.raises(Exception, match="released"):
        pa.RecordBatchReader._import_from_c_capsule(capsule)


def test_one_column_of_many_lives_on():
    table = large_run(1000).table("chunks")
    columns = [pa.table(table)[name].chunk(0) for name in table.names]
    arrow = pa.table(table)
    kept = {name: arrow[name] for name in ("file", "undecorated", "duration")}
    del table, arrow, columns
    gc.collect()
    assert kept["file"].to_pylist()[9] == "b.root"
    assert sum(kept["undecorated"].to_pylist()) == 100
    assert kept["duration"].null_count == 100


def test_streams_are_read_on_other_threads():
    table = large_run(10_000).table("chunks")
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(pa.table, [table] * 40))
    del table
    gc.collect()
    assert {arrow["num_events"].null_count for arrow in tables} == {1000}


def take_with_duckdb(ours):
    return duckdb.sql("select sum(duration) from ours").fetchall()


USES = {
    "unused": lambda table: table.__arrow_c_stream__(),
    "unused schema": lambda table: table.__arrow_c_schema__(),
    "pyarrow": lambda table: pa.table(table)["duration"].null_count,
    "polars": lambda table: pl.DataFrame(table)["duration"].null_count(),
    "duckdb": take_with_duckdb,
    "pandas": lambda table: len(table.to_pandas()),
}


@pytest.mark.skipif(SANITIZED, reason="freed memory stays in quarantine")
@pytest.mark.parametrize("taken_by", USES)
def test_memory_comes_back(taken_by):
    run = large_run(60_000)  # a table of some 9 MiB
    take = USES[taken_by]
    for _ in range(3):
        take(run.table("chunks"))
    gc.collect()
    before = rss_bytes()
    for _ in range(20):
        take(run.table("chunks"))
    gc.collect()
    assert rss_bytes() - before < 90 * MIB
