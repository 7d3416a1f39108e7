/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h - where the time of all threads went, in slices that add up to it.
 *
 * Idle is what is left of a shift, so the sum is right whatever is measured. What shows
 * whether it is true is `unexplained`: seconds inside jobs that no ladder names. */
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
    roast_slices *by_source;                /* owned; the last one: of no source */
    int64_t start_ns;
    int64_t end_ns;
    int64_t bin_from_ns[ROAST_BUDGET_BINS + 1]; /* the last one: never */
    size_t last_step;                           /* of phases, and ... */
    size_t last_bin;                            /* ... where time was cut last */
    double offered_s;
    double overlap_s; /* more threads were busy than there are: clocks differ */
};

/* Returns owned; NULL when out of memory. Without workers nothing is offered. */
struct roast_budget *roast__budget_find(const struct roast_summary_context *ctx);
void roast__budget_free(struct roast_budget *budget);

#endif
