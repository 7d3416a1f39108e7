/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.h - the chunk records of a run, summed up: over all, per file, per process.
 *
 * What a dataset or a host did is the sum of its files or processes. */
#ifndef ROAST_ANALYZE_TOTALS_TOTALS_H
#define ROAST_ANALYZE_TOTALS_TOTALS_H

#include "analyze/totals/row_sums.h"

static inline uint64_t roast__group_attempts(const struct roast_group *group)
{
    return (uint64_t)group->chunks + group->bare + group->others;
}

/* Zeroed = empty and valid; everything is owned. */
struct roast_totals {
    struct roast_roles roles;
    struct roast_group all;
    struct roast_group *of_source; /* per source + 1; the first: of rows without */
    struct roast_row_sums sums;
    struct roast_quantiles durations_ns;
    struct roast_quantiles ns_per_event;
    double *sampled_peaks; /* owned; per sampled process the highest memory, NaN: not
                            * known, negative: not sampled; NULL: none was */
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
