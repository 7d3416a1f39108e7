/* SPDX-License-Identifier: BSD-3-Clause */
/* readings.h - what is read on both sides of a chunk.
 *
 * Memory is read for every chunk. The rest costs 1 to 3 us a side: nothing beside a
 * real chunk, but much beside one of 10 us. So it keeps a pace: it may take 2 % of the
 * time that passes, saved up for at most 64 chunks; without savings the fields say why
 * they are absent. */
#ifndef ROAST_PROBE_CHUNK_READINGS_H
#define ROAST_PROBE_CHUNK_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/procfile.h"
#include "probe/linux/procio.h"
#include "probe/linux/sched.h"

/* Zeroed = closed and valid. */
struct roast_slow_files {
    struct roast_procfile schedstat;
    struct roast_procfile io;
    struct roast_procfile cpu_stat;
};

void roast__slow_files_close(struct roast_slow_files *files);

/* Zeroed = never read. */
struct roast_pace {
    int64_t last_ns;  /* when savings were counted last */
    int64_t saved_ns; /* what readings may cost now */
    int64_t cost_ns;  /* what one side costs, without accidents */
};

/* Zeroed = nothing known. */
struct roast_readings {
    bool rss_known;
    uint64_t rss_bytes;
    bool mark_was_reset; /* given: read the high-water mark as it is after a reset */
    bool slow;           /* the pace allowed the ones below */
    bool sched_known;
    struct roast_sched sched;
    struct roast_procio io; /* each value knows whether it is there */
    bool throttle_known;
    uint64_t throttled_ns;
    bool peak_known;
    uint64_t peak_rss_bytes; /* the kernel's high-water mark */
};

/* Whether a chunk that begins now may take the slow readings; each one asks anew. */
bool roast__pace_allows(struct roast_pace *pace, int64_t now_ns);

/* Takes the slow readings, marks them taken and notes what they cost. */
void roast__readings_take(struct roast_readings *out, struct roast_slow_files *files,
                          struct roast_pace *pace);

#endif
