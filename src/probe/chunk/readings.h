/* SPDX-License-Identifier: BSD-3-Clause */
/* readings.h - values that are read before and after a chunk.
 *
 * Memory is read for every chunk. The slow readings cost 1 to 3 us before and after a
 * chunk: negligible for a real chunk, much for one of 10 us. So their budget is 2 % of
 * the elapsed time, accumulated for at most 64 chunks; above it the fields are absent,
 * with the reason. */
#ifndef ROAST_PROBE_CHUNK_READINGS_H
#define ROAST_PROBE_CHUNK_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/usage.h"

/* Zeroed = closed and valid. */
struct roast_slow_files {
    struct roast_procfile schedstat;
    struct roast_procfile io;
    struct roast_procfile cpu_stat;
};

void roast__slow_files_close(struct roast_slow_files *files);

/* Zeroed = never read. */
struct roast_pace {
    int64_t last_ns;  /* when saved_ns was updated */
    int64_t saved_ns; /* the current budget */
    int64_t cost_ns;  /* cost of one side, without outliers */
};

/* Zeroed = nothing known. */
struct roast_readings {
    bool rss_known;
    uint64_t rss_bytes;
    bool mark_was_reset; /* set before: read the high-water mark as after a reset */
    bool slow;           /* the budget allowed the fields below */
    bool sched_known;
    struct roast_sched sched;
    struct roast_procio io;
    bool throttle_known;
    uint64_t throttled_ns;
    bool peak_known;
    uint64_t peak_rss_bytes; /* the kernel's high-water mark */
};

/* Whether a chunk that begins now may take the slow readings; called once per chunk. */
bool roast__pace_allows(struct roast_pace *pace, int64_t now_ns);

/* Takes the slow readings and subtracts their cost from the budget. */
void roast__readings_take(struct roast_readings *out, struct roast_slow_files *files,
                          struct roast_pace *pace);

#endif
