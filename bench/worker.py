# SPDX-License-Identifier: BSD-3-Clause
"""One side of the comparison: a process that runs bursts of cases when told to.

It is started with the interpreter of its environment and speaks JSON lines:

    (start)                         {"python": "3.12.1", "roastcoffea": "0.1.2", ...}
    {"case": "a1", "ms": 10}        {"iterations": 6000, "ns": 9876543}
    {"account": 50, "long": true, "pause": true}
                                    what the records say of the monitor's own time

A request that fails is answered by {"error": "..."}. The number of iterations is
found at the first request for a case and then kept, so that bursts are alike.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
import time
from importlib import metadata
from types import ModuleType
from typing import Any, TextIO

COMPANIONS = "coffea uproot awkward numpy psutil".split()


def take_stdout() -> TextIO:
    """The pipe to the parent; whatever else prints goes to stderr from now on."""
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return pipe


def load_coffea() -> bool:
    """Both sides have coffea in memory, as a user's process has; only one imports it
    by itself."""
    try:
        importlib.import_module("coffea.processor")
    except ImportError:
        return False
    return True


def version_of(package: str) -> str | None:
    """The version of a package that is loaded, None if it is not."""
    module = sys.modules.get(package)
    if module is None:
        return None
    version = getattr(module, "__version__", None)
    return version if isinstance(version, str) else metadata.version(package)


def introduce() -> dict[str, Any]:
    versions = {name: version_of(name) for name in ["roastcoffea", *COMPANIONS]}
    return {"python": platform.python_version(), **versions}


MOST = 1 << 24


class Bursts:
    """Runs cases, with as many iterations as fill the time asked for."""

    def __init__(self, cases: ModuleType) -> None:
        self.cases = cases
        self.iterations: dict[str, int] = {}

    def run(self, case: str, ms: float) -> dict[str, int]:
        if case not in self.iterations:
            self.iterations[case] = self.calibrate(case, ms * 1e6)
        count = self.iterations[case]
        return {"iterations": count, "ns": self.cases.CASES[case](count)}

    def calibrate(self, case: str, wanted_ns: float) -> int:
        """Doubles the count until a burst is long enough to trust, then scales it."""
        count = 1
        self.elapsed_ns(case, count)  # the first use opens files and fills caches
        while (took_ns := self.elapsed_ns(case, count)) < wanted_ns / 2:
            count *= 2
            if count > MOST:  # bytes, which are looked up and take no time
                return count
        return max(1, round(count * wanted_ns / took_ns))

    def elapsed_ns(self, case: str, count: int) -> int:
        """The whole burst; a case may return less, net of something."""
        start = time.perf_counter_ns()
        self.cases.CASES[case](count)
        return time.perf_counter_ns() - start


def answer(bursts: Bursts, request: dict[str, Any]) -> dict[str, Any]:
    if "account" in request:
        account: dict[str, Any] = bursts.cases.own_account(
            request["account"], long=request["long"], pause=request["pause"]
        )
        return account
    return bursts.run(request["case"], request["ms"])


def main() -> None:
    pipe = take_stdout()
    load_coffea()
    cases = importlib.import_module("cases")
    cases.check()
    print(json.dumps(introduce()), file=pipe)
    bursts = Bursts(cases)
    for line in sys.stdin:
        try:
            reply = answer(bursts, json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=pipe)


if __name__ == "__main__":
    main()
