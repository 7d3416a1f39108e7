# SPDX-License-Identifier: BSD-3-Clause
"""What ``roast run -- COMMAND`` costs: CPU of roast itself, in percent of a core while
the command runs at the default interval, and in ms at begin and end together.

    python bench/command.py [PROGRAM]      exit 1 where it is above the limit
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_PERCENT = 0.5
SECONDS = 20
CASES = {
    "asleep": "sleep {s}",
    "one busy process": "timeout {s} sh -c 'while :; do :; done'; true",
    "fork storm": "timeout {s} sh -c 'while :; do /bin/true; done'; true",
    "I/O": "timeout {s} dd if=/dev/zero of=/dev/null bs=1M 2>/dev/null; true",
    "100 processes": "for i in $(seq 100); do sleep {s} & done; wait",
    "1000 processes": "for i in $(seq 1000); do sleep 60 & done; wait",
    "2 GB of memory": "dd if=/dev/zero bs=2G count=1 2>/dev/null | sleep {s}",
}


def measure(program: str, command: str) -> tuple[dict[str, float], float]:
    """The metrics of a command, and all CPU seconds of roast itself."""
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "run", "-q", "-o", folder, "--", "sh", "-c", command]
        process = subprocess.Popen(words)
        used = os.wait4(process.pid, 0)[2]
        (path,) = Path(folder).iterdir()
        shown = subprocess.check_output([program, "report", "-f", "json", path])
    metrics = json.loads(shown)["metrics"]
    values = {name: metric["value"] for name, metric in metrics.items()}
    both = used.ru_utime + used.ru_stime
    return values, both - values["command_cpu_seconds"]


def main() -> int:
    program = sys.argv[1] if len(sys.argv) > 1 else "roast"
    failed = 0
    print(f"{'command':18} {'its CPU':>9} {'processes':>9} {'roast':>9}  begin and end")
    for name, command in CASES.items():
        values, own = measure(program, command.format(s=SECONDS))
        during = values["command_monitor_seconds"]
        percent = 100 * during / values["wall_time"]
        failed |= percent > LIMIT_PERCENT
        print(
            f"{name:18} {values['command_cpu_seconds']:7.2f} s"
            f" {values['command_peak_processes']:9.0f} {percent:7.3f} %"
            f"  {1e3 * max(own - during, 0):.0f} ms"
        )
    print(f"limit while it runs: {LIMIT_PERCENT} % of a core")
    return failed


if __name__ == "__main__":
    sys.exit(main())
