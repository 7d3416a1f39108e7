# SPDX-License-Identifier: BSD-3-Clause
"""What the records of a merged output occupy, in a process that does nothing else.

python kept.py FILE    prints the bytes by which it grew, taking in a packed output
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from records import take_in


def rss_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    gc.collect()
    before = rss_bytes()
    kept = take_in(Path(sys.argv[1]).read_bytes())
    gc.collect()
    print(rss_bytes() - before)
    del kept


if __name__ == "__main__":
    main()
