# SPDX-License-Identifier: BSD-3-Clause
"""On the scheduler: how long nobody has asked, as far as that could be heard.

A scheduler that takes a huge graph hears nobody for a minute, and the client that asked
meanwhile is there all the same. So silence is counted in turns of the event loop: one
that comes late counts for little. Travels as source: standard library only.
"""

from __future__ import annotations

from time import monotonic

TURN_S = 1.0  # at most, between two looks at what others do or do not
LATE_TURN_S = 1.0  # by which a turn may be late and still count in full


class Silence:
    """Since the client asked last. No clock that somebody may set is looked at."""

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits
        self.silent_s = 0.0
        self.began = self.asked = self._turned = monotonic()

    def heard(self) -> None:
        """The client asks."""
        self.silent_s = 0.0
        self.asked = self._turned = monotonic()

    def turn(self, pause_s: float) -> None:
        """The event loop came around; it was asked to after so many seconds."""
        now = monotonic()
        self.silent_s += min(now - self._turned, pause_s + LATE_TURN_S)
        self._turned = now

    def is_too_long(self) -> bool:
        """Whether nobody listens any more, or somebody has listened for too long."""
        age_s = monotonic() - self.began
        limits = self.limits
        return self.silent_s > limits["silence_s"] or age_s > limits["lifetime_s"]
