# SPDX-License-Identifier: BSD-3-Clause
"""``roastcoffea.selftest(client)``: are the numbers right, here and on that cluster?

Runs a small analysis of which everything is known, and compares our numbers with other
sources: the analysis itself, coffea's report, Dask's times.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from roastcoffea import __version__, _probe, selftest_analysis
from roastcoffea.collector import MetricsCollector
from roastcoffea.run import Run
from roastcoffea.selftest_checks import (
    DIFFERS,
    HEAD,
    OK,
    UNSURE,
    Checks,
    Known,
    Measured,
    Row,
    line_of,
)

LEAST_CHUNKS, MOST_CHUNKS = 8, 200
WORKERS_S = 60.0  # until the first one is there
GONE_S = 10.0  # until nothing of a run is left on a cluster


class SelfTest:
    """What was checked: ``ok``, ``checks`` (a list of dicts), and the ``run``."""

    def __init__(self, checks: list[Row], run: Run, where: str) -> None:
        self.checks = checks
        self.run = run
        self.where = where

    @property
    def ok(self) -> bool:
        """Whether no number is wrong."""
        return not self._names(DIFFERS)

    def _names(self, verdict: str) -> list[str]:
        return [row["what"] for row in self.checks if row["verdict"] == verdict]

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        wrong, unsure = self._names(DIFFERS), self._names(UNSURE)
        text = f"{len(self._names(OK))} of {len(self.checks)} checks ok"
        if wrong:
            text += f"; differs: {', '.join(wrong)}"
        if unsure:
            text += f"; undecided: {', '.join(unsure)}"
        return f"<roastcoffea.selftest on {self.where}: {text}>"

    def __str__(self) -> str:
        heading = f"roastcoffea {__version__} selftest | {self.where}"
        return "\n".join([heading, HEAD, *map(line_of, self.checks)])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # the page was printed


def selftest(client: Any = None, directory: Any = None) -> SelfTest:
    """Measure a known analysis here, or on the cluster of a ``distributed.Client``, and
    print our numbers beside those of other sources.

    It writes a small file to ``directory``, by default a temporary one, which the
    workers must be able to read.
    """
    _need_packages()
    threads = _threads_of(client)
    chunks = min(max(LEAST_CHUNKS, 2 * threads), MOST_CHUNKS)
    with tempfile.TemporaryDirectory(prefix="roast-selftest-", dir=directory) as folder:
        path = Path(folder, "known.root")
        total = selftest_analysis.write_file(path, chunks)
        _need_file(client, path)
        known = Known(chunks, total, threads)
        measured = _measure(client, path)
    executor = measured.run._notes.text("executor")
    checks = list(Checks(known, measured).all())
    result = SelfTest(checks, measured.run, f"{executor} | {chunks} chunks")
    print(result)
    return result


def main() -> None:
    """``python -m roastcoffea selftest``."""
    try:
        ok = selftest().ok
    except (ImportError, RuntimeError, OSError) as error:
        print(f"roastcoffea: selftest: {error}", file=sys.stderr)
        raise SystemExit(4) from None
    raise SystemExit(0 if ok else 1)


# ---- what it needs -------------------------------------------------------------------


def _need_packages() -> None:
    if not _probe.status()["enabled"]:
        raise RuntimeError("roastcoffea is switched off here: nothing can be tested")
    try:
        for name in ("coffea.processor", "uproot"):
            importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"selftest() runs a coffea analysis: {error}") from None


def _threads_of(client: Any) -> int:
    """How many threads a cluster has; 1 where there is none."""
    if client is None:
        return 1
    if not callable(getattr(client, "nthreads", None)):
        what = type(client).__name__
        raise TypeError(f"selftest() takes a distributed.Client or nothing, not {what}")
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError:
        text = f"the client has no workers, and none came within {WORKERS_S:.0f} s"
        raise RuntimeError(text) from None
    return sum(client.nthreads().values())


def _need_file(client: Any, path: Path) -> None:
    if client is None:
        return
    sees = client.run(os.access, str(path), os.R_OK)
    unable = [worker for worker, can_read in sees.items() if not can_read]
    if unable:
        text = (
            f"{len(unable)} of {len(sees)} workers cannot read {path.parent}, which is "
            "not shared with them: name a folder that is, selftest(client, directory=)"
        )
        raise RuntimeError(text)


# ---- the run -------------------------------------------------------------------------


def _measure(client: Any, path: Path) -> Measured:
    from coffea.nanoevents import BaseSchema
    from coffea.processor import DaskExecutor, IterativeExecutor, Runner

    executor = IterativeExecutor(status=False)
    if client is not None:
        executor = DaskExecutor(client=client, status=False)
    runner = Runner(
        executor,
        schema=BaseSchema,
        chunksize=selftest_analysis.CHUNK_EVENTS,
        savemetrics=True,
    )
    analysis = selftest_analysis.make_processor()
    options = {"handler": selftest_analysis.make_source()}
    fileset = {"known": {"files": {str(path): "Events"}}}
    before = _ours(client, analysis)
    enter_s = time.perf_counter()
    with MetricsCollector(executor if client is None else client) as collector:
        begin_s = time.perf_counter()
        output, _ = runner(fileset, processor_instance=analysis, uproot_options=options)
        inside_s = time.perf_counter() - begin_s
    around_s = time.perf_counter() - enter_s
    threads, left = _threads_of(client), _left(client, analysis, before)
    return Measured(collector.run, output, inside_s, around_s, threads, left)


def _ours(client: Any, analysis: Any) -> set[tuple[str, Any]]:
    """Everything that a run installs somewhere."""
    import uproot
    from coffea.processor import Runner

    found = {("Runner.run", Runner.__dict__["run"]), ("uproot.open", uproot.open)}
    found |= {(name, None) for name in vars(analysis) if name != "_chunk_metrics"}

    def names(dask_scheduler: Any = None, dask_worker: Any = None) -> list[str]:
        return list(map(str, (dask_scheduler or dask_worker).plugins))

    if client is not None:
        everywhere = {"scheduler": client.run_on_scheduler(names)} | client.run(names)
        for place, plugins in everywhere.items():
            found |= {(f"{n} of {place}", None) for n in plugins if "roast" in n}
    return found


def _left(client: Any, analysis: Any, before: set[tuple[str, Any]]) -> list[str]:
    ends_s = time.monotonic() + (0.0 if client is None else GONE_S)
    while left := _ours(client, analysis) - before:
        if time.monotonic() > ends_s:
            break
        time.sleep(0.1)
    return sorted(name for name, _ in left)
