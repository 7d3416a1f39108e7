# SPDX-License-Identifier: BSD-3-Clause
"""A delay that is planted in a step of a chunk lands in the slice of that step, whole,
and in no other. Delays say themselves how long they took."""

from __future__ import annotations

import sys

import pyarrow.parquet
import pytest
import uproot
from coffea.nanoevents import BaseSchema
from coffea.nanoevents.mapping import UprootSourceMapping
from uproot.models.RNTuple import Model_ROOT_3a3a_RNTuple as RNTuple

import planted_delays
from collector_helpers import fileset_of
from planted_delays import MeasuredSum, Sum, delay, delayed

no_garbage_collection = planted_delays.no_garbage_collection
files, check = planted_delays.files, planted_delays.check


# ---- import --------------------------------------------------------------------------


class SlowToUnpickle:
    def __getstate__(self):
        return {"a": 1}

    def __setstate__(self, state):
        delay()


class Carries(Sum):
    def __init__(self):
        self.corrections = SlowToUnpickle()


class OwnState(MeasuredSum):
    """Does not send the switch along: it is unpickled before coffea would do so."""

    def __init__(self):
        self.corrections = SlowToUnpickle()

    def __getstate__(self):
        return {"corrections": self.corrections}


@pytest.mark.parametrize("kind", [Carries, OwnState])
def test_unpickling_the_processor_is_import(check, kind):
    check("import", kind())


class Imports(Sum):
    """Imports a module on first use; here every use is the first."""

    def process(self, events):
        sys.modules.pop("roast_slow_to_import", None)
        import roast_slow_to_import  # noqa: F401

        return super().process(events)


def test_a_module_that_process_imports_is_import(check, tmp_path, monkeypatch):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "roast_slow_to_import.py").write_text(
        "import planted_delays; planted_delays.delay()"
    )
    monkeypatch.syspath_prepend(folder)
    check("import", Imports())


# ---- open, form ----------------------------------------------------------------------


@pytest.mark.parametrize("file", ["ttree", "rntuple"])
def test_opening_a_file_is_open(check, monkeypatch, file):
    kind = uproot.reading.ReadOnlyFile
    monkeypatch.setattr(kind, "__init__", delayed(kind.__init__))
    check("open", file=file)


def test_a_function_that_was_replaced_since_the_last_run_is_open(check, monkeypatch):
    check.run()
    monkeypatch.setattr(uproot, "open", delayed(uproot.open))
    check("open")


def test_opening_a_parquet_file_is_open(check, monkeypatch):
    class Slow(pyarrow.parquet.core.ParquetReader):
        open = delayed(pyarrow.parquet.core.ParquetReader.open)

    monkeypatch.setattr(pyarrow.parquet.core, "ParquetReader", Slow)
    check("open", file="parquet", format="parquet")


class SlowSchema(BaseSchema):
    def __init__(self, base_form, *args, **kwargs):
        delay()
        super().__init__(base_form, *args, **kwargs)


@pytest.mark.parametrize("file", ["ttree", "rntuple", "parquet"])
def test_a_schema_is_form(check, file):
    format = "parquet" if file == "parquet" else "root"
    check("form", file=file, format=format, schema=SlowSchema)


def test_looking_at_branches_is_form(check, monkeypatch):
    original = UprootSourceMapping._extract_base_form.__func__
    slow = classmethod(delayed(original))
    monkeypatch.setattr(UprootSourceMapping, "_extract_base_form", slow)
    check("form")


# ---- reading -------------------------------------------------------------------------


class SlowSource(uproot.MemmapSource):
    """Bytes of columns come late."""

    def chunk(self, start, stop):
        if sys._getframe(2).f_code.co_name == "read_page":
            delay()
        return super().chunk(start, stop)

    def chunks(self, ranges, notifications):
        delay()
        return uproot.MemmapSource.chunks(self, ranges, notifications)


@pytest.mark.parametrize("file", ["ttree", "rntuple"])
def test_waiting_for_bytes_is_fetch(check, file):
    check("fetch", file=file, call={"uproot_options": {"handler": SlowSource}})


def test_waiting_for_a_source_that_was_made_since_the_last_run_is_fetch(check):
    check.run()

    class Own(uproot.MemmapSource):
        chunks = SlowSource.chunks

    check("fetch", call={"uproot_options": {"handler": Own}})


UNPACKERS = {"ttree": "read_members", "rntuple": "read_locator"}


@pytest.fixture(params=UNPACKERS)
def slow_to_unpack(request, monkeypatch):
    """A kind of file whose columns take long to unpack, but not its metadata."""
    caller = UNPACKERS[request.param]
    slow = delayed(uproot.compression.decompress, caller)
    monkeypatch.setattr(uproot.compression, "decompress", slow)
    return request.param


def test_unpacking_is_decompress(check, slow_to_unpack):
    check("decompress", file=slow_to_unpack)


def test_unpacking_what_is_preloaded_is_decompress(check, slow_to_unpack, files):
    files = fileset_of(files[slow_to_unpack])
    files["ttbar"]["preload"] = ["value"]
    check("decompress", file=files)


INTERPRETERS = {
    "ttree": (uproot.AsDtype, "basket_array"),
    "rntuple": (RNTuple, "deserialize_page_decompressed_buffer"),
    "parquet": (pyarrow.parquet.ParquetFile, "read"),
}


@pytest.mark.parametrize("file", INTERPRETERS)
def test_making_arrays_is_interpret(check, monkeypatch, file):
    kind, name = INTERPRETERS[file]
    monkeypatch.setattr(kind, name, delayed(getattr(kind, name)))
    format = "parquet" if file == "parquet" else "root"
    check("interpret", file=file, format=format)


def test_looking_for_a_branch_is_read_other(check, monkeypatch):
    slow = delayed(UprootSourceMapping.get_column_handle)
    monkeypatch.setattr(UprootSourceMapping, "get_column_handle", slow)
    check("read_other")
