# SPDX-License-Identifier: BSD-3-Clause
"""Run the Python tests in several processes: pytests.py [PYTEST ARGUMENT...].

There is one more than cores, because tests wait for a good part of their time. The
processes are started alike and share the files of tests among themselves
(python/tests/sharing.py). Says little when all is well: of each process the tests that
were skipped, and the last line. JOBS in the environment is another number of processes.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 4  # each needs up to a GB
TELL_S = 30
WORTH_SAYING = re.compile(r"^(SKIPPED|XFAIL|XPASS|\d+ (passed|skipped|deselected))")


def number_of_jobs() -> int:
    """As the environment says; one more than cores without."""
    return int(os.environ.get("JOBS", 0)) or min(len(os.sched_getaffinity(0)) + 1, MOST)


def log_of(shared: Path, number: int) -> Path:
    """What a process says."""
    return shared / f"{number}.log"


def start(command: list[str], shared: Path, number: int) -> subprocess.Popen[bytes]:
    """One of the processes; into a file, as nobody can read two on one terminal."""
    environment = os.environ | {
        "ROAST_TESTS_SHARED": str(shared),
        "ROAST_TESTS_PROCESS": str(number),
    }
    with log_of(shared, number).open("wb") as output:
        return subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment
        )


def wait_for(running: list[subprocess.Popen[bytes]], shared: Path) -> list[int]:
    """Their statuses; says now and then how many files of tests were begun."""
    for process in running:
        while True:
            try:
                process.wait(TELL_S)
                break
            except subprocess.TimeoutExpired:
                begun = len(list(shared.glob("*.begun")))
                print(f"pytest: {begun} files begun", flush=True)
    return [process.wait() for process in running]


def report(name: str, status: int, text: str) -> None:
    """All that a process said if it failed."""
    lines = text.splitlines()
    if status == 0:
        lines = [line for line in lines if WORTH_SAYING.match(line)]
    outcome = f"FAILED, exit {status}" if status else "ok"
    print("\n".join([f"{name}: {outcome}", *lines]), flush=True)


def main(arguments: list[str]) -> int:
    """0 if all of them ended well."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # not without the others
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += arguments
    jobs = number_of_jobs()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        running = [start(command, folder, n) for n in range(jobs)]
        try:
            statuses = wait_for(running, folder)
        finally:
            for process in running:
                process.terminate()  # if this is being interrupted
        for n, status in enumerate(statuses):
            text = log_of(folder, n).read_text(errors="replace")
            report(f"pytest {n + 1} of {jobs}", status, text)
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
