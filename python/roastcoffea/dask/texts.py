# SPDX-License-Identifier: BSD-3-Clause
"""Words that travel: every text of ours that Dask sends must be UTF-8.

Names of files and messages of errors may hold halves of characters (surrogates), which
have no UTF-8. Dask finds out only when it writes to a connection, and then gives up the
connection. Travels as source, to the scheduler and to workers: standard library only.
"""

from __future__ import annotations

from typing import Any

MOST_WORDS = 500


def plain(text: Any, most: int = MOST_WORDS) -> str:
    """A text that can be sent, cut where it is too long."""
    words = str(text)[:most]
    return words if words.isascii() else words.encode("utf-8", "replace").decode()


def error_words(error: BaseException, most: int = 200) -> str:
    """An error in words; some cannot even be printed."""
    kind = type(error).__name__
    try:
        return plain(f"{kind}: {error}", most)
    except Exception:
        return plain(kind, most)
