# SPDX-License-Identifier: BSD-3-Clause
"""Two worker processes that take turns, and the ratio of what they needed.

Bursts are short and alternate, so that both sides meet the same state of a shared
machine; only the ratio inside one round is compared, and the median of those is kept.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

WORKER = Path(__file__).with_name("worker.py")
# They would lead one side to the other's package, or switch the measuring off.
UNWANTED = "PYTHONPATH PYTHONHOME ROASTCOFFEA ROASTCOFFEA_PEAK".split()


def clean_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in UNWANTED}


class WorkerError(Exception):
    """A worker did not start, died, or could not do what it was asked to."""


class Worker:
    """A worker process and the pipe to it; ends with the `with` block."""

    def __init__(self, interpreter: str) -> None:
        self.interpreter = interpreter
        try:
            self.process = subprocess.Popen(
                [interpreter, str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=clean_environment(),
            )
        except OSError as error:
            raise WorkerError(f"{interpreter}: {error.strerror}") from error

    def __enter__(self) -> Worker:
        self.versions = self._read()
        return self

    def __exit__(self, *exc: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # reading says how it ended
        return self._read()

    def burst(self, case: str, ms: float) -> float:
        """Nanoseconds per use. A net time below one is noise: it counts as one."""
        reply = self.ask(case=case, ms=ms)
        return max(1.0, float(reply["ns"]) / int(reply["iterations"]))

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            raise WorkerError(f"{self.interpreter}: worker ended with status {status}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise WorkerError(f"{self.interpreter}: {reply['error']}")
        return reply


class Result(NamedTuple):
    """Medians over the rounds, in ns, with the quartiles of the ratio."""

    reference_ns: float
    ours_ns: float
    ratio: float
    low: float
    high: float


def measure(
    reference: Worker, ours: Worker, case: str, rounds: int, ms: float
) -> Result:
    """Who begins changes with every round. The first one calibrates and is dropped."""
    pairs = []
    for number in range(rounds + 1):
        order = (reference, ours) if number % 2 else (ours, reference)
        times = {worker: worker.burst(case, ms) for worker in order}
        pairs.append((times[reference], times[ours]))
    del pairs[0]
    low, ratio, high = statistics.quantiles((a / b for a, b in pairs), n=4)
    return Result(
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        ratio,
        low,
        high,
    )


def alone(worker: Worker, case: str, rounds: int, ms: float) -> float:
    """Median nanoseconds per use on one side only."""
    times = [worker.burst(case, ms) for _ in range(rounds + 1)]
    return statistics.median(times[1:])
