/* SPDX-License-Identifier: BSD-3-Clause */
/* row_sums.h - the chunk records of some rows, summed up.
 *
 * The one place where rows are added. */
#ifndef ROAST_ANALYZE_TOTALS_ROW_SUMS_H
#define ROAST_ANALYZE_TOTALS_ROW_SUMS_H

#include "analyze/quantiles.h"
#include "analyze/roles.h"
#include "analyze/stats.h"

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
    uint32_t bare_unknown;           /* those of them whose entries are not known */
    uint32_t others;                 /* attempts that do not count */
    uint32_t failures;               /* those of them that failed or were lost */
};

void roast__group_init(struct roast_group *group);
void roast__group_add(struct roast_group *sum, const struct roast_group *part);

/* What only a run as a whole has. Zeroed is not empty: see roast__row_sums_init(). */
struct roast_row_sums {
    struct roast_spread duration_ns;
    struct roast_extremes events; /* min > max: not known */
    struct roast_moments memory_delta_bytes;
    int64_t memory_peak_bytes; /* highest; negative: not known */
    double noncpu_ns;          /* of the chunks that know duration and CPU */
    uint64_t noncpu_chunks;    /* how many those are */
    double paired_duration_ns, paired_events; /* of chunks that know both */
    double paired_delta_bytes, delta_events;  /* the same */
    double task_ns; /* of all attempts, whether they count or not */
    double clocked_cpu_ns, clocked_noncpu_ns; /* of whole ones that ended well */
    uint64_t clocked;                         /* how many of those know it */
};
void roast__row_sums_init(struct roast_row_sums *sums);
void roast__row_sums_merge(struct roast_row_sums *sums,
                           const struct roast_row_sums *part);

/* Rows side by side; the first one is a multiple of 8. */
struct roast_row_block {
    const struct roast_attempts *attempts;
    size_t from;
    size_t count;
    const unsigned char *roles; /* roast_role of each */
};

/* Where they are added to. */
struct roast_adding {
    struct roast_group *groups;  /* a row is of the one behind that ... */
    const int32_t *of;           /* ... which this numbers for each: -1 is the first */
    struct roast_row_sums *sums; /* NULL: only groups are wanted, else ... */
    struct roast_quantiles *durations_ns; /* ... these too */
    struct roast_quantiles *ns_per_event;
};

void roast__rows_add(const struct roast_row_block *rows, const struct roast_adding *to);

/* Completes groups for amounts that no chunk of the run knows; call it last. */
void roast__groups_finish(struct roast_group *groups, size_t count,
                          const struct roast_attempts *attempts);

#endif
