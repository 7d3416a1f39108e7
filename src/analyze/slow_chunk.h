/* SPDX-License-Identifier: BSD-3-Clause */
/* slow_chunk.h - why a chunk took longer than the others.
 *
 * A cause is named only if its own seconds were measured, and are half of what the chunk
 * took longer. */
#ifndef ROAST_ANALYZE_SLOW_CHUNK_H
#define ROAST_ANALYZE_SLOW_CHUNK_H

#include "analyze/recorded.h"
#include "roast/ladder.h"

/* What the seconds of a chunk can go to; NaN: not known. */
enum roast_chunk_part {
    ROAST_PART_SLICES = 0, /* the first ones are the slices of its ladder */
    ROAST_PART_waiting_for_core = ROAST_SLICE_COUNT,
    ROAST_PART_waiting_for_gil,
    ROAST_PART_waiting_for_data, /* fetch, and waits of opening and building */
    ROAST_PART_on_cpu,
    ROAST_PART_off_cpu,
    ROAST_PART_all, /* process(), or the whole attempt */
    ROAST_CHUNK_PARTS
};

/* The medians of some chunks. */
struct roast_typical_chunk {
    bool inside_process; /* parts of process() per event; false: of whole attempts */
    double medians[ROAST_CHUNK_PARTS];
    double events; /* the median too */
};

/* Fills the medians of the rows that `is_member` accepts. False when out of memory. */
bool roast__typical_chunk_find(struct roast_typical_chunk *typical,
                               const struct roast_summary_context *ctx,
                               bool (*is_member)(const void *of, size_t row),
                               const void *of);

/* The cause of `excess_s` more seconds than usual; NULL: not known, or several. */
const char *roast__slow_chunk_cause(const struct roast_typical_chunk *typical,
                                    const struct roast_summary_context *ctx, size_t row,
                                    double excess_s, struct roast_hosts_seen *hosts);

#endif
