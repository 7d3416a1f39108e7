/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h - the time of all threads by slice; the slices add up to it.
 *
 * Idle time is the rest of a shift, so the sum is always right. The quality of a budget
 * is shown by `unexplained`: seconds inside jobs that no ladder has. */
#ifndef ROAST_ANALYZE_BUDGET_BUDGET_H
#define ROAST_ANALYZE_BUDGET_BUDGET_H

#include "analyze/budget/phases.h"

enum { ROAST_BUDGET_BINS = 60 };

typedef double roast_slices[ROAST_SLICES]; /* seconds of threads */

struct roast_budget {
    struct roast_schedule schedule;
    struct roast_phases phases;
    roast_slices total;
    roast_slices by_phase[ROAST_PHASE_COUNT];
    roast_slices by_bin[ROAST_BUDGET_BINS]; /* equal parts of the run */
    roast_slices *by_shift;                 /* owned */
    roast_slices *by_source; /* owned; the last one: rows without source */
    int64_t start_ns;
    int64_t end_ns;
    int64_t bin_from_ns[ROAST_BUDGET_BINS + 1]; /* the last one: INT64_MAX */
    size_t last_interval; /* of phases: where time was cut last, the same for ... */
    size_t last_bin;      /* ... bins */
    double offered_s;
    double overlap_s; /* seconds of jobs without a thread: clocks differ */
    double held_s;    /* that calls waited for threads that others had; set by wall.c */
};

/* Returns owned; NULL when out of memory. A run without workers has an empty budget. */
struct roast_budget *roast__budget_find(const struct roast_summary_context *ctx);
void roast__budget_free(struct roast_budget *budget);

#endif
