# SPDX-License-Identifier: BSD-3-Clause
"""What the records of a run occupy, in a process that does nothing else.

python kept.py FOLDER    prints the bytes by which it grew, taking in what is there
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
    kept = take_in(Path(sys.argv[1]))
    gc.collect()
    print(rss_bytes() - before, flush=True)
    os._exit(0 if kept else 1)  # to end in good order would remove the folder


if __name__ == "__main__":
    main()
