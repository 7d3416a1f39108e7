/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.h - how long this thread ran, and how long it waited for a core.
 *
 * From /proc/thread-self/schedstat, so the file belongs to the thread that read it
 * first. The kernel brings on_cpu_ns up to date at ticks and switches only: between two
 * readings it may be one tick (1-10 ms) wrong. CPU time comes from the thread's clock;
 * this is for the run queue, which no clock tells. */
#ifndef ROAST_PROBE_LINUX_SCHED_H
#define ROAST_PROBE_LINUX_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/procfile.h"

struct roast_sched {
    uint64_t on_cpu_ns;
    uint64_t runqueue_ns; /* ready to run, but another thread had the core */
    uint64_t slices;      /* times it was given a core */
};

bool roast__sched_read(struct roast_procfile *file, struct roast_sched *sched);

/* False for "0 0 0" too: a kernel built without these counters prints that, and a
 * thread that runs has been given a core at least once. */
bool roast__schedstat_parse(struct roast_sched *sched, struct roast_str text);

#endif
