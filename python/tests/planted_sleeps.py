# SPDX-License-Identifier: BSD-3-Clause
"""Sleeps that are planted once each, wherever that is, and say how long they took.

They live in a module, so that processes of a pool and workers can import them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coffea import processor
from coffea.nanoevents import BaseSchema

from roastcoffea import track_metrics

SLEEP_S = 2.0


def sleep_once(path: str) -> None:
    """The first caller sleeps, and writes how long; no one does with an empty path."""
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except (FileExistsError, FileNotFoundError):
        return
    begin_s = time.monotonic()
    time.sleep(SLEEP_S)
    os.write(file, repr(time.monotonic() - begin_s).encode())
    os.close(file)


def slept_s(path: str) -> float:
    return float(Path(path).read_text())


class SlowToUnpickle:
    """Sleeps where it arrives."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        sleep_once(self.path)


class Output:
    """Something that can be added; it sleeps when it is packed, or merged."""

    def __init__(self, packing: str = "", merging: str = "") -> None:
        self.packing, self.merging = packing, merging

    def __getstate__(self) -> dict[str, Any]:
        sleep_once(self.packing)
        return self.__dict__

    def __add__(self, other: Output) -> Output:
        sleep_once(self.merging)
        return self


class Planted(processor.ProcessorABC):
    """An analysis with a sleep in some steps: {step: path}."""

    def __init__(self, plants: Mapping[str, str]) -> None:
        self.packing = plants.get("result", "")
        self.merging = plants.get("reduce", "")
        self.corrections = SlowToUnpickle(plants.get("import", ""))

    @track_metrics
    def process(self, events: Any) -> Any:
        return {"n": len(events), "slow": Output(self.packing, self.merging)}

    def postprocess(self, accumulator: Any) -> Any:
        return None


def slow_schema(path: str) -> Any:
    """A schema that sleeps when it is made; it travels by value."""

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        sleep_once(path)
        BaseSchema.__init__(self, *args, **kwargs)

    return type("SlowSchema", (BaseSchema,), {"__init__": begin})
