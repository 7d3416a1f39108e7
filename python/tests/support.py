# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of chunks share: plain events, processors made of one function, and
interpreters of their own for what must not happen in this one."""

from __future__ import annotations

import concurrent.futures
import mmap
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cloudpickle

from roastcoffea import _probe, track_metrics

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SEEDS = ROOT.parent / "shared" / "seeds"
KEY = "__roastcoffea_metrics__"
MIB = 2**20
# Freed memory waits in a sanitizer's quarantine: resident memory says nothing there.
SANITIZED = any("SANITIZED" in name for name in os.environ)

Record = Mapping[str, Any]
Work = Callable[[Any, Any], Any]


class Events:
    """Events as coffea describes them, without a file behind them."""

    def __init__(self, size: int = 10, **metadata: Any) -> None:
        self.size = size
        self.metadata = {
            "dataset": "ttbar",
            "filename": "/data/ttbar.root",
            "treename": "Events",
            "entrystart": 0,
            "entrystop": size,
            "fileuuid": "0b6f4d2e-8a3c-11ef-9c53-0242ac110002",
        } | metadata

    def __len__(self) -> int:
        return self.size


class Counter:
    """What uproot's source is to track_bytes: a counter of requested bytes."""

    def __init__(self) -> None:
        self.num_requested_bytes = 0


class CountedEvents(Events):
    """Events whose way to a byte counter is the one coffea's have."""

    def __init__(self, source: Any = None) -> None:
        super().__init__()
        self.source = Counter() if source is None else source
        self.file_handle = self.file = self
        self.attrs = {"@events_factory": self}

    attrs: dict[str, Any] = {}  # noqa: RUF012 - looked for on the class


def make_processor(work: Work, *, on: bool = True, base: type = object) -> Any:
    """A processor whose decorated process() returns work(self, events)."""

    class Processor(base):  # type: ignore[misc]
        @track_metrics
        def process(self, events: Any) -> Any:
            return work(self, events)

    processor = Processor()
    processor._roastcoffea_collect_metrics = on
    return processor


def measure(work: Work, events: Any = None) -> Record:
    """The record of one chunk that does work(self, events)."""

    def process(self: Any, events: Any) -> dict[str, Any]:
        work(self, events)
        return {}

    output = make_processor(process).process(Events() if events is None else events)
    (record,) = output[KEY]
    assert set(output) == {KEY}
    return record


def waiting() -> list[Record]:
    """The records in this process's outbox, taken out; none may have been dropped."""
    records, _ = _probe.take_records()
    return records


def fail(work: Work, events: Any = None) -> tuple[BaseException, Record]:
    """The exception that reached the caller of a failing chunk, and its record."""
    try:
        make_processor(work).process(Events() if events is None else events)
    except BaseException as exception:
        (record,) = waiting()
        return exception, record
    raise AssertionError("process() did not fail")


def touched(size_bytes: int) -> mmap.mmap:
    """Fresh memory with every page in use, outside of any allocator."""
    memory = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, size_bytes, mmap.PAGESIZE):
        memory[page] = 1
    return memory


def run_python(script: str, *arguments: object, **environment: str) -> str:
    """What a script prints in an interpreter of its own; a crash fails the test."""
    return _run([], script, arguments, environment)


def run_bare(script: str, *arguments: object) -> str:
    """The same in an interpreter that finds nothing but the standard library."""
    return _run(["-I", "-S"], script, arguments, {})


def cloudpickle_alone(folder: Path) -> Path:
    """A folder to search in which only cloudpickle is."""
    site = folder / "site"
    if not site.exists():
        package = Path(str(cloudpickle.__file__)).parent
        shutil.copytree(package, site / "cloudpickle")
    return site


def _run(
    options: list[str],
    script: str,
    arguments: tuple[object, ...],
    environment: dict[str, str],
) -> str:
    path = os.pathsep.join(
        [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"PYTHONPATH": path} | environment,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stderr[-4000:]}"
    return done.stdout


def rss_bytes() -> int:
    """Resident memory by the kernel's own word, read without our code."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class OneByOne(concurrent.futures.Executor):
    """A pool that has done everything when coffea looks for the first time.

    What a recoverable executor recovers is otherwise a matter of chance: results that
    it merged before a chunk failed, and those that come later, are not in it.
    """

    def __init__(self, pool: concurrent.futures.Executor) -> None:
        self.pool = pool

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        future = self.pool.submit(function, *args, **kwargs)
        concurrent.futures.wait([future])
        return future
