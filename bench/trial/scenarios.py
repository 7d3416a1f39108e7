# SPDX-License-Identifier: BSD-3-Clause
"""The list of scenarios: each plants one cause, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trial.files import Files
from trial.setups import Setup

HEALTHY = ""


@dataclass(frozen=True)
class Scenario:
    """``make`` gives what a run is made of; files are written then."""

    name: str
    planted: str  # id of a finding, or HEALTHY
    make: Callable[[Files], Setup]
    allowed: Mapping[str, str] = field(default_factory=dict)  # id: true because ...
    is_quick: bool = False  # for `make test`
    repeats: bool = True  # its saving is compared, if there is one


SCENARIOS: list[Scenario] = []


def scenario(
    planted: str,
    *,
    allowed: Mapping[str, str] | None = None,
    is_quick: bool = False,
    repeats: bool = True,
) -> Callable[[Callable[[Files], Setup]], Callable[[Files], Setup]]:
    """Adds a function to the list, under its own name."""

    def add(make: Callable[[Files], Setup]) -> Callable[[Files], Setup]:
        SCENARIOS.append(
            Scenario(
                make.__name__, planted, make, dict(allowed or {}), is_quick, repeats
            )
        )
        return make

    return add


def all_scenarios() -> list[Scenario]:
    """Importing the modules fills the list."""
    from trial import chunk_scenarios, cluster_scenarios, healthy_scenarios

    assert chunk_scenarios
    assert cluster_scenarios
    assert healthy_scenarios
    return SCENARIOS
