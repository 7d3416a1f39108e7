/* SPDX-License-Identifier: BSD-3-Clause */
/* fine_sums.c - which sum of the fine metrics an activity of Dask belongs to.
 *
 * Apart from the sums themselves: the front of 0.1.2 adds Python's numbers by the same
 * rule. */
#include "base/str.h"
#include "roast/analyze.h"

static const char *const activities[ROAST_FINE_SUMS] = {
    [ROAST_FINE_CPU_S] = "thread-cpu",
    [ROAST_FINE_NONCPU_S] = "thread-noncpu",
    [ROAST_FINE_COMPRESS_S] = "compress",
    [ROAST_FINE_DECOMPRESS_S] = "decompress",
    [ROAST_FINE_SERIALIZE_S] = "serialize",
    [ROAST_FINE_DESERIALIZE_S] = "deserialize",
    [ROAST_FINE_FAILED_S] = "failed",
    [ROAST_FINE_CANCELLED_S] = "cancelled",
    [ROAST_FINE_EXECUTOR_S] = "executor",
    [ROAST_FINE_OFFLOAD_S] = "offload",
    [ROAST_FINE_MEMORY_READ_BYTES] = "memory-read",
    [ROAST_FINE_DISK_READ_BYTES] = "disk-read",
    [ROAST_FINE_DISK_WRITE_BYTES] = "disk-write",
};

enum roast_fine_sum roast_fine_sum_of(struct roast_str activity, struct roast_str unit)
{
    bool bytes = roast__str_is(unit, "bytes");
    int from = bytes ? ROAST_FINE_MEMORY_READ_BYTES : 0;
    int to = bytes ? ROAST_FINE_SUMS : ROAST_FINE_MEMORY_READ_BYTES;

    if (roast__str_is(unit, "count"))
        return ROAST_FINE_SUMS;
    for (int i = from; i < to; i++) {
        if (roast__str_is(activity, activities[i]))
            return (enum roast_fine_sum)i;
    }
    return ROAST_FINE_SUMS;
}
