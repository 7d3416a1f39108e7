/* SPDX-License-Identifier: BSD-3-Clause */
/* row_sums.h - sums over the attempts of a run: of all, and by group.
 *
 * Sums are doubles: exact up to 2^53 (104 days of threads in ns), and no value of a
 * frame can overflow them. */
#ifndef ROAST_ANALYZE_TOTALS_ROW_SUMS_H
#define ROAST_ANALYZE_TOTALS_ROW_SUMS_H

#include "analyze/quantiles.h"
#include "analyze/roles.h"
#include "analyze/stats.h"

/* The quantities of a chunk that are summed. */
enum roast_amount {
    ROAST_DURATION_NS,
    ROAST_EVENTS,
    ROAST_CPU_NS,
    ROAST_BYTES,  /* before and inside process() */
    ROAST_OUTPUT, /* bytes of the packed result */
    ROAST_AMOUNTS
};

/* Some of the attempts of a run. Zeroed is not empty: see roast__group_init(). */
struct roast_group {
    double sums[ROAST_AMOUNTS]; /* over the chunks with a value */
    double bare_events;         /* entries of successful chunks without a record */
    double shortest_ns;
    double longest_ns;
    uint32_t chunks;                 /* with the role COUNTS */
    uint32_t without[ROAST_AMOUNTS]; /* those of them without a value */
    uint32_t bare;                   /* chunks with the role BARE */
    uint32_t bare_unknown;           /* those of them without entries */
    uint32_t others;                 /* attempts with other roles */
    uint32_t failures;               /* those of them that failed or were lost */
};

void roast__group_init(struct roast_group *group);
void roast__group_add(struct roast_group *sum, const struct roast_group *part);

/* Sums over all attempts. Zeroed = empty, except for memory_peak_bytes. */
struct roast_row_sums {
    struct roast_moments duration_ns;
    struct roast_moments events;
    struct roast_moments memory_delta_bytes;
    struct roast_moments output_bytes;
    struct roast_quantiles durations_ns;
    struct roast_quantiles ns_per_event;
    int64_t memory_peak_bytes; /* highest; negative: not known */
    double noncpu_ns;          /* of the chunks with duration and CPU time */
    uint64_t noncpu_chunks;    /* the number of these chunks */
    double paired_duration_ns, paired_events; /* of chunks with both values */
    double paired_delta_bytes, delta_events;  /* the same */
    double task_ns;                           /* of all attempts, of any role */
    double clocked_cpu_ns, clocked_noncpu_ns; /* of whole successful attempts */
    uint64_t clocked;                         /* the number of these attempts */
};

/* Adds all attempts to their groups: row i belongs to groups[of[i] + 1]. sums: NULL, or
 * the sums over all rows. */
void roast__rows_add(struct roast_group *groups, const int32_t *of,
                     struct roast_row_sums *sums, const struct roast_attempts *attempts,
                     const struct roast_roles *roles);

#endif
