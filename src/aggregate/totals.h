/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.h - the chunk records of a run, summed up: over all, per file, per process.
 *
 * This is the part of aggregation that runs over every record. Rows are read in small
 * blocks, column by column, as doubles with NaN for what is not known; what a dataset
 * or a host did is then the sum of its files or processes. */
#ifndef ROAST_AGGREGATE_TOTALS_H
#define ROAST_AGGREGATE_TOTALS_H

#include "aggregate/roles.h"
#include "aggregate/stats.h"

/* What is summed up of a chunk. */
enum roast_amount {
    ROAST_DURATION_NS,
    ROAST_EVENTS,
    ROAST_CPU_NS,
    ROAST_BYTES, /* before and inside process() */
    ROAST_AMOUNTS
};

/* Some of the attempts of a run. Zeroed is not empty: see roast__group_init(). */
struct roast_group {
    double sums[ROAST_AMOUNTS]; /* over the chunks that know it */
    double bare_events;         /* entries of chunks that ended well without a record */
    double shortest_ns;
    double longest_ns;
    uint32_t chunks;                 /* that count */
    uint32_t without[ROAST_AMOUNTS]; /* those of them that do not know it */
    uint32_t bare;                   /* how many of those there are */
    uint32_t bare_unknown;           /* those of them whose entries nobody knows */
    uint32_t others;                 /* attempts that do not count */
    uint32_t failures;               /* those of them that failed or were lost */
};

void roast__group_init(struct roast_group *group);

static inline uint64_t roast__group_attempts(const struct roast_group *group)
{
    return (uint64_t)group->chunks + group->bare + group->others;
}

void roast__group_add(struct roast_group *sum, const struct roast_group *part);

/* Zeroed = empty and valid; everything is owned. */
struct roast_totals {
    struct roast_roles roles;
    struct roast_group all;
    struct roast_group *of_source; /* per source + 1; the first: of rows without */
    struct roast_spread duration_ns;
    struct roast_extremes events; /* min > max: nobody knows */
    struct roast_moments memory_delta_bytes;
    int64_t memory_peak_bytes; /* highest; negative: nobody knows */
    double noncpu_ns;          /* of the chunks that know duration and CPU */
    uint64_t noncpu_chunks;    /* how many those are */
    struct roast_quantiles durations_ns;
    struct roast_quantiles ns_per_event;
    double paired_duration_ns; /* of chunks that know duration and events */
    double paired_events;
    double paired_delta_bytes; /* of chunks that know memory and events */
    double delta_events;
    double *sampled_peaks; /* owned; per sampled process the highest memory, NaN: not
                            * known, negative: nobody looked; NULL: at none */
};

/* Fills zeroed totals. The run is locked and its sources are resolved. */
int roast__aggregate_chunks(struct roast_totals *totals, const struct roast_run *run,
                            roast_error *err);

/* The same per process + 1 (the first is empty); returns owned, NULL when out of
 * memory. */
struct roast_group *roast__aggregate_processes(const struct roast_totals *totals,
                                               const struct roast_run *run);

void roast__totals_release(struct roast_totals *totals);

#endif
