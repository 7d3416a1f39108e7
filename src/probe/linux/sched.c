/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.c - how long this thread ran, and how long it waited for a core. */
#include "probe/linux/sched.h"

#include "probe/linux/scan.h"

enum { SCHEDSTAT_BYTES = 80 }; /* three numbers of at most 20 digits */

bool roast__schedstat_parse(struct roast_sched *sched, struct roast_str text)
{
    struct roast_sched read;

    if (!roast__scan_u64(&read.on_cpu_ns, &text) ||
        !roast__scan_u64(&read.runqueue_ns, &text) ||
        !roast__scan_u64(&read.slices, &text) || read.slices == 0)
        return false;
    *sched = read;
    return true;
}

bool roast__sched_read(struct roast_procfile *file, struct roast_sched *sched)
{
    char buffer[SCHEDSTAT_BYTES];
    struct roast_str text =
        roast__procfile_read(file, "thread-self/schedstat", buffer, sizeof(buffer));

    return roast__schedstat_parse(sched, text);
}
