# SPDX-License-Identifier: BSD-3-Clause
"""An object that travels as source: it needs neither our package nor our Python.

A pickle by reference needs the package there, and one by value carries bytecode, which
another Python cannot read. So what is sent is text and the call that makes the object;
bytecode goes along for those whose Python is like ours, because compiling is most of
what entering a block costs. It travels itself: the scheduler sends on to workers in the
same way.
"""

from __future__ import annotations

from typing import Any

EXPRESSION = (
    "(lambda ns: (exec(__import__('marshal').loads(code)"
    " if magic == __import__('importlib.util').util.MAGIC_NUMBER"
    " else compile(source, '<roastcoffea>', 'exec'), ns),"
    " ns['make'](payload))[1])({'__name__': 'roastcoffea_shipped'})"
)


class Shipped:
    """Whatever `make(payload)` of the source returns, on the side where it arrives.

    ``code`` is the source compiled, for a Python with this magic number."""

    def __init__(
        self, source: str, payload: Any, code: bytes = b"", magic: bytes = b""
    ) -> None:
        self.names = {"source": source, "code": code, "magic": magic}
        self.payload = payload

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (EXPRESSION, {**self.names, "payload": self.payload})
