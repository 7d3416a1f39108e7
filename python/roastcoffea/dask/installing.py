# SPDX-License-Identifier: BSD-3-Clause
"""The plugin of one run on its way to a scheduler, once or again.

A scheduler that heard nobody for a minute has forgotten the run; one that was restarted
never knew it. Then the same plugin is sent once more. All of it is done on the client's
event loop, but for the making of what is sent.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from roastcoffea.dask import recipe, shipping

START = "start on the scheduler"
AGAIN = "start on the scheduler, again"
Note = Callable[[str, BaseException], None]


class Installing:
    """``note`` is told what went wrong."""

    def __init__(self, client: Any, mark: str, note: Note) -> None:
        self.client = client
        self.mark = mark
        self.is_there = False  # or was; who forgot it is another question
        self._note = note
        self._plugin = b""
        self._again: asyncio.Task[None] | None = None
        self._failed_again = False

    def make(self, interval_s: float, is_new: bool) -> None:
        """What is sent; ``is_new``: workers of the cluster have joined just now."""
        self._plugin = recipe.scheduler_plugin(
            mark=self.mark,
            client=self.client.id,
            interval=interval_s,
            worker_plugin=shipping.worker_plugin(self.mark),
            workers_since=None if is_new else math.nan,
        )

    async def begin(self) -> bool:
        """Send it; False: it is not there."""
        try:
            await self.send(False)
        except OSError as error:  # it may be there all the same: the next pull knows
            self._note(START, error)
        except Exception as error:
            self._note(START, error)
            return False
        else:
            self.is_there = True
        return True

    async def begin_again(self, wait_s: float) -> None:
        """Send it to a scheduler that has forgotten it, unless that is being done."""
        if self._again is None or self._again.done():
            self._again = asyncio.create_task(self._send_again())
        await asyncio.wait({self._again}, timeout=wait_s)

    async def _send_again(self) -> None:
        try:
            await self.send(True)
            self.is_there = True
        except Exception as error:
            if not self._failed_again:  # it is tried for as long as the block lasts
                self._note(AGAIN, error)
            self._failed_again = True

    async def send(self, again: bool) -> None:
        await self.client.scheduler.register_scheduler_plugin(
            plugin=self._plugin, name=self.mark, idempotent=again
        )

    async def end(self) -> None:
        """Nothing comes to be there after this."""
        if self._again is not None:
            await asyncio.wait({self._again})
        self._plugin = b""  # megabytes, where the worker part is a copy of ours
