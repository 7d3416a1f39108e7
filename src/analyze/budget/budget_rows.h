/* SPDX-License-Identifier: BSD-3-Clause */
/* budget_rows.h - adds the seconds of a job, or of any interval, to the budget. */
#ifndef ROAST_ANALYZE_BUDGET_BUDGET_ROWS_H
#define ROAST_ANALYZE_BUDGET_BUDGET_ROWS_H

#include "analyze/budget/budget.h"

/* Sets the times of the bins; call it first. */
void roast__budget_set_bins(struct roast_budget *budget);

/* An interval, cut where phases and bins begin. Set from_ns and to_ns, then call
 * roast__cut_next() until it returns false. */
struct roast_cut {
    int64_t from_ns;
    int64_t to_ns;
    int64_t part_from_ns;
    int64_t part_to_ns;
    enum roast_phase phase;
    size_t bin;
};

bool roast__cut_next(struct roast_budget *budget, struct roast_cut *cut);

/* Adds seconds of the current part to a slice: by phase, by bin, and to `own`. */
void roast__cut_add(struct roast_budget *budget, const struct roast_cut *cut,
                    roast_slices own, enum roast_slice slice, double seconds);

/* Adds a job that had a thread in [fitted[0], fitted[1]). */
void roast__budget_add_job(struct roast_budget *budget,
                           const struct roast_summary_context *ctx,
                           const struct roast_job *job, const int64_t fitted[2],
                           roast_slices own);

#endif
