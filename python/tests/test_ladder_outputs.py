# SPDX-License-Identifier: BSD-3-Clause
"""Like test_ladder_slices.py, for what a chunk does with what it read."""

from __future__ import annotations

import concurrent.futures
import io

import awkward as ak
import pyarrow.parquet
import pytest
import uproot
from coffea import processor

import planted_delays
from ladder_clocks import clocked_futures, watch
from planted_delays import Delays, MeasuredSum, Sum, delay, delayed, lands_in
from roastcoffea import track_metrics

no_garbage_collection = planted_delays.no_garbage_collection
files, check = planted_delays.files, planted_delays.check


# ---- compute, write ------------------------------------------------------------------


class Slow(Sum):
    def process(self, events):
        delay()
        return Sum.process(self, events)


class MeasuredSlow(Slow):
    @track_metrics
    def process(self, events):
        return Slow.process(self, events)


@pytest.mark.parametrize("kind", [Slow, MeasuredSlow])
def test_process_is_compute(check, kind):
    check("compute", kind())


class Skims(Sum):
    """Writes what it read."""

    def __init__(self, folder, write):
        self.folder = folder
        self.write = write

    def process(self, events):
        self.write(self.folder / "skim", {"value": ak.to_numpy(events.value)})
        return Sum.process(self, events)


def assign(path, columns):
    with uproot.recreate(path) as root:
        root["Events"] = columns


def make_tree(path, columns):
    with uproot.recreate(path) as root:
        root.mktree("Events", {"value": "float64"}).extend(columns)


def create(path, columns):
    uproot.recreate(path).close()


class SlowToClose(io.BytesIO):
    def close(self):
        delay()


def close(path, columns):
    with uproot.recreate(SlowToClose()) as root:
        root.mktree("Events", {"value": "float64"}).extend(columns)


def make_ntuple(path, columns):
    with uproot.recreate(path) as root:
        root.mkrntuple("Events", {"value": "float64"}).extend(columns)


def to_parquet(path, columns):
    ak.to_parquet(ak.Array(columns), path)


def write_table(path, columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


WRITERS = {
    assign: (uproot.writing._cascadentuple.NTuple, "extend"),
    make_tree: (uproot.writing._cascadetree.Tree, "extend"),
    create: (uproot.writing._cascade, "create_empty"),
    close: None,  # its file is slow already
    make_ntuple: (uproot.writing._cascadentuple.NTuple, "extend"),
    to_parquet: (ak.operations.ak_to_arrow_table, "_impl"),
    write_table: (pyarrow.parquet.core.ParquetWriter, "__init__"),
}


@pytest.mark.parametrize("write", WRITERS)
def test_writing_files_is_write(check, tmp_path, monkeypatch, write):
    if WRITERS[write]:
        owner, name = WRITERS[write]
        monkeypatch.setattr(owner, name, delayed(getattr(owner, name)))
    check("write", Skims(tmp_path, write))


# ---- result --------------------------------------------------------------------------


class SlowToPickle(int):
    def __reduce__(self):
        delay()
        return int, (int(self),)


class Returns(Sum):
    def process(self, events):
        return {"n": SlowToPickle(len(events))}


class MeasuredReturns(Returns):
    @track_metrics
    def process(self, events):
        return Returns.process(self, events)


@pytest.mark.parametrize("kind", [Returns, MeasuredReturns])
def test_packing_the_output_is_result(files, tmp_path, kind):
    def run(name):
        folder = tmp_path / name
        folder.mkdir()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            executor = clocked_futures(pool, folder, workers=1)
            return watch(executor, folder, files["ttree"], kind()).chunks

    with Delays.off():
        without = run("without")
    lands_in("result", run("with"), without)


class Checkpoints(processor.CheckpointerABC):
    def load(self, metadata, processor_instance):
        return None

    def save(self, output, metadata, processor_instance):
        delay()


def test_what_follows_a_decorated_process_is_result(check):
    check("result", MeasuredSum(), checkpointer=Checkpoints())


def test_what_follows_another_process_is_compute(check):
    """Where it ends cannot be seen from outside."""
    check("compute", Sum(), checkpointer=Checkpoints())
