# SPDX-License-Identifier: BSD-3-Clause
"""An object that travels as source: it needs neither our package nor our Python.

A pickle by reference needs the package there, and one by value carries bytecode, which
another Python cannot read. So what is sent is text and the call that makes the object.
It travels itself: the scheduler sends on to workers in the same way.
"""

from __future__ import annotations

from typing import Any

EXPRESSION = (
    "(lambda ns: (exec(compile(source, '<roastcoffea>', 'exec'), ns),"
    " ns['make'](payload))[1])({'__name__': 'roastcoffea_shipped'})"
)


class Shipped:
    """Whatever `make(payload)` of the source returns, on the side where it arrives."""

    def __init__(self, source: str, payload: Any) -> None:
        self.source = source
        self.payload = payload

    def __reduce__(self) -> tuple[Any, ...]:
        names = {"source": self.source, "payload": self.payload}
        return eval, (EXPRESSION, names)
