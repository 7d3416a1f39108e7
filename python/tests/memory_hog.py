# SPDX-License-Identifier: BSD-3-Clause
"""A processor that is killed for its memory; in a module, so that workers find it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from clusters import Once
from collector_helpers import Measured, Plain
from roastcoffea import track_metrics


class Greedy(Measured):
    """Takes more memory than its worker may have, the first time it meets a chunk."""

    def __init__(self, folder: Path, entry: int, size_bytes: int) -> None:
        self.once = Once(folder)
        self.entry = entry
        self.size_bytes = size_bytes

    @track_metrics
    def process(self, events: Any) -> Any:
        start = events.metadata["entrystart"]
        if start == self.entry and self.once(start):
            time.sleep(1)  # taking memory keeps the worker from sending its news
            held = b"x" * self.size_bytes
            time.sleep(120)  # its nanny looks several times a second
            del held
        return Plain.process(self, events)
