# SPDX-License-Identifier: BSD-3-Clause
"""Dask's cumulative worker metrics as fine metrics.

Keys are (context, task prefix, activity, unit, ...); other keys are left out. A count
is never taken for seconds, nor seconds for bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["parse_fine_metrics"]


def parse_fine_metrics(
    cumulative_worker_metrics: Mapping[Any, Any],
    processor_name: str | None = None,
) -> dict[str, Any]:
    """Seconds and bytes by activity.

    With ``processor_name`` (the task prefix) CPU and waiting of other tasks is
    overhead; without it all of it is the processor's.
    """
    from roastcoffea import _core

    values: dict[tuple[str, bool], list[Any]] = {}
    for key, value in cumulative_worker_metrics.items():
        if not isinstance(key, tuple) or len(key) < 4 or value is None:
            continue
        name = _core.fine_metric(key[2], key[3])
        own = processor_name is None or key[1] == processor_name
        if name is not None:
            values.setdefault((name, own), []).append(value)

    def total(name: str, *, own: bool = True, other: bool = True) -> Any:
        """Of the processor's tasks, of the others, or of both."""
        own_values = values.get((name, True), []) if own else []
        other_values = values.get((name, False), []) if other else []
        return _core.statistics(own_values + other_values)["total"]

    cpu, waiting = "cpu_time_seconds", "io_time_seconds"
    sums = (
        "compression_time_seconds",
        "decompression_time_seconds",
        "serialization_time_seconds",
        "deserialization_time_seconds",
    )
    fine = _core.derive_metrics(
        {
            "processor_cpu_time_seconds": total(cpu, other=False),
            "processor_noncpu_time_seconds": total(waiting, other=False),
            "overhead_cpu_time_seconds": total(cpu, own=False),
            **{name: total(name) for name in sums},
        }
    )
    percents = ("processor_cpu_percent", "processor_io_wait_percent")
    seconds = (
        "processor_cpu_time_seconds",
        "processor_io_wait_time_seconds",
        "overhead_cpu_time_seconds",
        "total_compression_overhead_seconds",
        "total_serialization_overhead_seconds",
        *sums,
    )
    return {
        cpu: float(total(cpu)),
        waiting: float(total(waiting)),
        **{name: fine.get(name, math.nan) for name in seconds},
        **{name: fine.get(name, 0.0) for name in percents},
        # 0.1.2: thread-noncpu alone; overhead_noncpu_time_seconds adds failed tasks
        "overhead_io_wait_time_seconds": float(total(waiting, own=False)),
        "total_bytes_memory_read": total("total_bytes_memory_read_dask"),
        "disk_read_bytes": total("disk_read_bytes"),
        "disk_write_bytes": total("disk_write_bytes"),
    }
