# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: whether everything that workers sent has arrived.

What a worker says of attempts comes by its stream, and its answer to our farewell by
another connection: the answer may be here first. So the last it says by the stream is
that it was the last, and the end of the run waits for that.
Travels as source: standard library only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class LastWords:
    """Workers that measure, until they have said their last."""

    def __init__(self) -> None:
        self._speaking: set[str] = set()
        self._awaited: set[str] = set()
        self._all_said: asyncio.Future[None] | None = None

    def begin(self, address: str) -> None:
        self._speaking.add(address)

    def end(self, address: str) -> None:
        """It said its last, or is gone: nothing of it is on its way any more."""
        self._speaking.discard(address)
        self._awaited.discard(address)
        said = self._all_said
        if said is not None and not self._awaited and not said.done():
            said.set_result(None)

    async def wait(self, addresses: Iterable[str], wait_s: float) -> list[str]:
        """Until all of these have said it; those that have not."""
        self._awaited = self._speaking.intersection(addresses)
        if self._awaited:
            self._all_said = asyncio.get_running_loop().create_future()
            await asyncio.wait({self._all_said}, timeout=max(wait_s, 0.0))
        return sorted(self._awaited)
