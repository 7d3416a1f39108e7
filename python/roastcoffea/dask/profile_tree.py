# SPDX-License-Identifier: BSD-3-Clause
"""Dask's profiles as trees: added up, and cut down to the heaviest branches.

A node is {"count", "identifier", "description", "children"}, as in distributed.profile.
No function calls itself: a profile may be as deep as a stack. Packed, it is one text:
Dask looks at every object of what it sends. Travels as source, to the scheduler and to
workers: standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .texts import plain

MOST_NODES = 500
MOST_DEPTH = 100
MOST_LETTERS = 5000


def add_tree(into: dict[str, Any], tree: dict[str, Any], weight: float = 1) -> None:
    """Add a profile to another one."""
    waiting = [(into, tree, 0)]
    while waiting:
        here, there, depth = waiting.pop()
        here["count"] = here.get("count", 0) + round(there.get("count", 0) * weight)
        if "identifier" not in here:
            here["identifier"] = _sendable(there.get("identifier"))
            told = there.get("description") or {}
            here["description"] = {name: _sendable(told[name]) for name in told}
        children = here.setdefault("children", {})
        if depth < MOST_DEPTH:
            for name, child in (there.get("children") or {}).items():
                below = children.get(name)
                if below is None:  # then the name may have to be cut
                    below = children.setdefault(_sendable(name), {})
                waiting.append((below, child, depth + 1))


def _sendable(value: Any) -> Any:
    """Names of files are texts that may not be UTF-8."""
    return plain(value, MOST_LETTERS) if isinstance(value, str) else value


def packed(tree: dict[str, Any]) -> bytes:
    return json.dumps(tree, separators=(",", ":")).encode()


def unpacked(profile: bytes) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(profile)
    return tree


def weighed(tree: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, float]]:
    """Every child of every node: (node, name of the child, weight).

    Dask counts a sample at every caller and not at the function it was in. What a node
    has more than its children together was in those that called nobody.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        children = node["children"]
        rest = node["count"] - sum(child["count"] for child in children.values())
        ends = sum(1 for child in children.values() if not child["count"]) or 1
        for name, child in children.items():
            yield node, name, child["count"] or rest / ends
        waiting += children.values()


def prune(tree: dict[str, Any], most: int = MOST_NODES) -> None:
    """Leave the heaviest branches only; of equal ones those that were found first."""
    found = sorted(weighed(tree), key=lambda row: row[2], reverse=True)
    for node, name, _ in found[most:]:
        del node["children"][name]
