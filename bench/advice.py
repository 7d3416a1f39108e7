# SPDX-License-Identifier: BSD-3-Clause
"""The advice trial: runs in which one cause is planted, or none, and what the findings
say of them.

    python bench/advice.py                      all scenarios, their findings
    python bench/advice.py --savings            and what following the advice saves
    python bench/advice.py --savings --write    and the table in docs/findings.md
    python bench/advice.py --only NAME ...      some of them (--list)
    python bench/advice.py --times 3            the whole trial three times
    python bench/advice.py --beside-load        with a busy loop on one core

Exits 1 if anything was wrong. Scenarios are in bench/trial; a run is real coffea on
real files, and only the machine should be idle.
"""

if __name__ == "__main__":
    # not above: workers that are started import this file, and must not import coffea
    import sys

    from trial.command import main

    sys.exit(main())
