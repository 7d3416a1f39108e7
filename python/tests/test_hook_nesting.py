# SPDX-License-Identifier: BSD-3-Clause
"""What belongs to a chunk and what does not: runs inside a run, files that a processor
opens by itself, chunks that another thread takes the hooks from; and Ctrl-C."""

from __future__ import annotations

import threading
import time

import pytest
import uproot
from coffea import processor
from coffea.nanoevents import NanoAODSchema

from collector_helpers import threads
from hook_checks import Originals, fresh_hooks, is_hook
from reads import CHUNKS, EVENTS, NAMES, Reader, Run, bytes_of, fileset, kind_folder
from roastcoffea import _probe
from roastcoffea.coffea import hook_list, hooks

renewed = pytest.fixture(name="renewed")(fresh_hooks)
folder = pytest.fixture(scope="module", name="folder")(kind_folder)
KINDS = ("zlib", "rntuple")


@pytest.fixture(scope="module")
def expected(folder):
    """Runs that do nothing else."""
    return {
        kind: Run(fileset(folder / f"{kind}.root"), Reader(NAMES)) for kind in KINDS
    }


def check_like(run, expected):
    """Bytes, branches and files are those of another run."""
    assert len(run.chunks) == CHUNKS
    for chunk, known in zip(run.chunks, expected.chunks, strict=True):
        assert bytes_of(chunk) == bytes_of(known)
        for name in ("open_bytes", "metadata_bytes", "column_bytes", "other_bytes"):
            assert chunk[name] == known[name]
        reported = chunk["open_bytes"] + chunk["metadata_bytes"] + chunk["column_bytes"]
        assert reported == run.truth_of(chunk)["bytesread"]
        assert chunk["file_metadata"].keys() == known["file_metadata"].keys()
        assert sum(chunk["ladder"].values()) == pytest.approx(chunk["task_time"])


# ---- runs inside a run ------------------------------------------------------------


class Nested(Reader):
    """Has read a part when it runs another analysis over another file."""

    def __init__(self, other, before):
        super().__init__(NAMES)
        self.other = other
        self.before = before

    def process(self, events):
        Reader(self.before).process(events)
        executor = processor.IterativeExecutor(status=False, retries=0)
        runner = processor.Runner(executor, schema=NanoAODSchema, chunksize=EVENTS)
        inner = runner(fileset(self.other), Reader(["Beam_energy"]))
        assert inner["events"] == EVENTS
        return super().process(events)


@pytest.mark.parametrize("before", [(), NAMES[:2], NAMES])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("unmeasured")
def test_a_run_inside_a_chunk_takes_nothing_from_it(folder, expected, kind, before):
    analysis = Nested(folder / "other.root", before)
    run = Run(fileset(folder / f"{kind}.root"), analysis)
    assert run.out == expected[kind].out
    check_like(run, expected[kind])


class Around(Reader):
    """Says how long it went on after a run over parquet."""

    def __init__(self, path):
        super().__init__(())
        self.path = path

    def process(self, events):
        executor = processor.IterativeExecutor(status=False, retries=0)
        runner = processor.Runner(executor, schema=NanoAODSchema, format="parquet")
        runner(fileset(self.path), Reader(NAMES))
        start = time.perf_counter()
        time.sleep(0.05)
        return {"after": [time.perf_counter() - start]}


@pytest.mark.usefixtures("unmeasured")
def test_a_run_over_parquet_does_not_end_process(folder):
    path = folder / "events.parquet"
    run = Run(fileset(path), Around(path), format="parquet", maxchunks=1)
    (chunk,) = run.chunks
    assert chunk["ladder"]["compute"] >= run.out["after"][0]


class Off(Nested):
    """Before that, everything is switched off."""

    def process(self, events):
        _probe.configure(enabled=False)
        return super().process(events)


@pytest.mark.usefixtures("unmeasured")
def test_an_attempt_that_has_begun_ends_where_it_should(folder, expected):
    run = Run(fileset(folder / "zlib.root"), Off(folder / "other.root", ()))
    (chunk,) = run.chunks
    assert bytes_of(chunk) == bytes_of(expected["zlib"].chunks[0])


# ---- files that are not the chunk's -----------------------------------------------


class Unpickled(Reader):
    """Looks into a file as soon as it arrives where chunks run."""

    def __init__(self, other):
        super().__init__(NAMES)
        self.other = str(other)

    def __setstate__(self, state):
        self.__dict__.update(state)
        with uproot.open(self.other) as root:
            root["Events"]["event"].array()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_opened_before_is_not_the_chunks(folder, expected, kind):
    run = Run(fileset(folder / f"{kind}.root"), Unpickled(folder / "other.root"))
    check_like(run, expected[kind])
    for chunk, known in zip(run.chunks, expected[kind].chunks, strict=True):
        for name, row in known["branches"].items():
            found = chunk["branches"][name]
            assert found["reads"] == row["reads"]
            assert found["uncompressed_bytes"] == row["uncompressed_bytes"]


class Alternating(Reader):
    """Reads some bytes of files, from here and from there, one after the other."""

    def __init__(self, *paths):
        super().__init__(())
        self.paths = paths

    def process(self, events):
        for path in self.paths * 20:
            source = uproot.source.file.MemmapSource(path, **uproot.open.defaults)
            source.chunk(0, 100)
            del source  # the next one may be where it was
        return {}


def test_endpoints_are_distinct_though_sources_share_addresses(folder, monkeypatch):
    monkeypatch.chdir(folder)
    analysis = Alternating("other.root", str(folder / "other.root"))
    run = Run(fileset(folder / "zlib.root"), analysis, maxchunks=1)
    (chunk,) = run.chunks
    here = chunk["endpoints"].pop(".")
    (there,) = chunk["endpoints"].values()
    assert here["bytes"] == 20 * 100
    assert there["bytes"] == 20 * 100 + run.truth_of(chunk)["bytesread"]


# ---- another thread ---------------------------------------------------------------


class Taken(Reader):
    """The first chunk goes on until the hooks are gone."""

    gone = threading.Event()

    def process(self, events):
        if not is_hook(uproot.open):
            self.gone.set()
        if events.metadata["entrystart"] == 0:
            assert self.gone.wait(60)
        return super().process(events)


def test_a_chunk_that_loses_its_hooks_reports_it(folder, renewed):
    setup = _probe.ladder_setup
    renewed.setattr(_probe, "ladder_setup", lambda *args: setup(*args, 10**9))
    originals = Originals()
    run = Run(
        fileset(folder / "zlib.root"),
        Taken(NAMES),
        executor=threads(),
        chunksize=EVENTS // 6,
        processor_compression=None,
    )
    setup(None, None, 0)
    originals.check()
    assert set(run.chunks[0]["ladder"]) == {"unnamed"}
    (row,) = run.metrics["hooks_missing"]
    assert (row["hook"], row["chunks"]) == ("cost", 3)


# ---- Ctrl-C -----------------------------------------------------------------------


class Directory:
    """An opened file whose counter is read when Ctrl-C comes."""

    @property
    def file(self):
        return self

    source = file

    @property
    def num_requested_bytes(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("error", [None, ValueError("the user's")])
def test_a_ctrl_c_at_the_end_of_an_attempt_is_the_users(tmp_path, error):
    number, kind = hook_list.NUMBER["open"], hook_list.PLAIN
    opened = _probe.hook(number, kind, lambda files: Directory())
    other = _probe.process_id() ^ 1  # the collector's process is another one
    item = ("data", "file.root", "Events", None, 0, 10)
    _probe.attempt_begin(b"r" * 16, other, (str(tmp_path),), item)
    _probe.ladder_arm(0)
    opened({"file.root": None})
    with pytest.raises(KeyboardInterrupt):
        _probe.attempt_end(other, (str(tmp_path),), error)
    assert list(tmp_path.iterdir())  # and it was reported


def test_a_ctrl_c_leaves_no_attempt_open(folder, monkeypatch):
    """Where one were, all later chunks of the thread would be a part of it."""
    begin, files = _probe.attempt_begin, fileset(folder / "zlib.root")

    def interrupted(*args):
        begin(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_probe, "attempt_begin", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Run(files, Reader(NAMES))
    assert len(Run(files, Reader(NAMES)).chunks) == CHUNKS


def test_hooks_go_with_the_run_when_a_ctrl_c_kept_them(folder, monkeypatch):
    def interrupted(user):
        raise KeyboardInterrupt

    originals, files = Originals(), fileset(folder / "zlib.root")
    with monkeypatch.context() as patch:
        patch.setattr(hooks, "disarm", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Run(files, Reader(NAMES))
    originals.check()
    assert len(Run(files, Reader(NAMES)).chunks) == CHUNKS  # and no attempt is open
