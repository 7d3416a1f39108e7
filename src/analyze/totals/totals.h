/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.h - the attempts of a run, summed over all, per file and per process.
 *
 * Sums of a dataset or a host are made from those of its files or processes. */
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
    struct roast_group *of_source; /* per source + 1; the first: rows without source */
    struct roast_row_sums sums;
    double *sampled_peaks; /* per sampled process the highest memory; NaN: not known,
                            * negative: no worker; NULL: not made yet */
};

/* Fills zeroed totals. The run is locked and its sources are resolved. */
int roast__compute_totals(struct roast_totals *totals, const struct roast_run *run,
                          roast_error *err);

/* The groups per process + 1 (the first is empty); returns owned, NULL when out of
 * memory. */
struct roast_group *roast__totals_by_process(const struct roast_totals *totals,
                                             const struct roast_run *run);

void roast__totals_release(struct roast_totals *totals);

#endif
