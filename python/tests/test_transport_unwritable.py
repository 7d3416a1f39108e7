# SPDX-License-Identifier: BSD-3-Clause
"""Where the folder for records cannot be made or written, they come beside the output:
counted, each once, and the output is what it would have been."""

from __future__ import annotations

import resource
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor

import pytest
from coffea.processor import FuturesExecutor, accumulate

from outputs import (
    FLAKY,
    OUTPUTS,
    Failing,
    Measured,
    failures,
    identities,
    once,
    places,
    processes,
    run,
    same,
    settled,
    without_records,
)
from roastcoffea import monitor

CHUNK, CHUNKS = 100, 30
kinds = pytest.mark.parametrize("kind", ["dict", "Counter", "custom object"])


def full_disk():
    """No file of this process may grow, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.fixture(scope="module")
def full_pool():
    with ProcessPoolExecutor(2, initializer=full_disk) as pool:
        yield pool


@pytest.fixture
def no_folder(monkeypatch, tmp_path):
    """The temporary folder is gone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))


def check(collector, output, path, kind):
    output, _ = without_records(output)
    plain = accumulate([OUTPUTS[kind](n) for n in range(0, 3000, CHUNK)])
    assert same(settled(output), settled(plain))
    assert places(collector.chunk_metrics) == once(path, CHUNK)
    assert len(identities(collector.chunk_metrics)) == CHUNKS
    metrics = collector.get_metrics()
    assert metrics["losses"] == {"spool_unwritable": CHUNKS}
    assert metrics["num_chunks_processed"] == CHUNKS
    assert metrics["failures"] == []


OPTIONS = {
    "plain": {},
    "merging": {"merging": (5, 4, 100)},
    "no compression": {"compression": None},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@kinds
def test_full_disk(kind, options, full_pool, tiny_file):
    executor = FuturesExecutor(pool=full_pool, status=False, **options)
    with monitor() as collector:
        output = run(Measured(kind), tiny_file, executor, CHUNK)
    check(collector, output, tiny_file, kind)
    assert collector.get_metrics()["monitor_errors"] > 0


@kinds
def test_no_temporary_folder(kind, no_folder, tiny_file):
    with monitor() as collector:
        output = run(Measured(kind), tiny_file, processes(), CHUNK)
    check(collector, output, tiny_file, kind)
    metrics = collector.get_metrics()
    assert metrics["monitor_errors"] == 1
    assert metrics["monitor_first_error"].startswith("spool: FileNotFoundError")


@kinds
def test_folder_removed_while_the_run_goes_on(kind, tiny_file, tmp_path, monkeypatch):
    """As those do who clean up temporary files, here before the first chunk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with monitor() as collector:
        shutil.rmtree(collector.run._recorder.open_spool())
        output = run(Measured(kind), tiny_file, processes(), CHUNK)
    check(collector, output, tiny_file, kind)
    assert list(tmp_path.iterdir()) == []


def test_nested_collectors_both_get_what_came_with_the_output(full_pool, tiny_file):
    executor = FuturesExecutor(pool=full_pool, status=False)
    with monitor() as outer, monitor() as inner:
        output = run(Measured("dict"), tiny_file, executor, CHUNK)
    check(outer, dict(output), tiny_file, "dict")
    check(inner, output, tiny_file, "dict")


def test_one_of_two_collectors_cannot_make_its_folder(tiny_file, tmp_path, monkeypatch):
    """What came both ways is there once."""
    with monitor() as outer, monitor() as inner:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        outer.run._recorder.open_spool()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
        run(Measured("dict"), tiny_file, processes(), CHUNK)
    for collector in (outer, inner):
        assert places(collector.chunk_metrics) == once(tiny_file, CHUNK)
        assert collector.get_metrics()["num_chunks_processed"] == CHUNKS


def test_failed_attempts_come_with_the_next_good_one(full_pool, tiny_file):
    executor = FuturesExecutor(pool=full_pool, status=False)
    with monitor() as collector:
        output = run(Failing("full disk"), tiny_file, executor, CHUNK)
    assert output["sum"] == sum(range(0, 3000, CHUNK))
    metrics = collector.get_metrics()
    columns = ("entry_start", "attempt", "status", "resolved")
    assert failures(metrics, *columns) == [(n, 1, "failed", True) for n in FLAKY]
    assert metrics["losses"] == {"spool_unwritable": CHUNKS + len(FLAKY)}
    assert metrics["num_chunks_processed"] == CHUNKS


def test_failed_attempts_of_an_earlier_run_do_not_come(full_pool, tiny_file):
    executor = FuturesExecutor(pool=full_pool, status=False, retries=0)
    with monitor(), pytest.raises(Exception, match="Failed processing"):
        run(Failing("earlier"), tiny_file, executor, CHUNK)
    with monitor() as collector:
        output = run(Measured("dict"), tiny_file, executor, CHUNK)
    check(collector, output, tiny_file, "dict")
