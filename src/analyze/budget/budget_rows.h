/* SPDX-License-Identifier: BSD-3-Clause */
/* budget_rows.h - the seconds of one job, and of any interval of time, in the budget. */
#ifndef ROAST_ANALYZE_BUDGET_BUDGET_ROWS_H
#define ROAST_ANALYZE_BUDGET_BUDGET_ROWS_H

#include "analyze/budget/budget.h"

/* Finds where the parts of the run begin; before anything is cut. */
void roast__budget_set_bins(struct roast_budget *budget);

/* An interval of time, cut where phases and parts of the run begin. Set from_ns and to_ns,
 * then call roast__cut_next() until it returns false. */
struct roast_cut {
    int64_t from_ns;
    int64_t to_ns;
    int64_t part_from_ns;
    int64_t part_to_ns;
    enum roast_phase phase;
    size_t bin;
};

bool roast__cut_next(struct roast_budget *budget, struct roast_cut *cut);

/* Adds seconds of the current part to a slice, in all accounts but the total. */
void roast__cut_add(struct roast_budget *budget, const struct roast_cut *cut,
                    roast_slices own, enum roast_slice slice, double seconds);

/* Adds a job that had a thread in [fitted[0], fitted[1]). */
void roast__budget_add_job(struct roast_budget *budget,
                           const struct roast_summary_context *ctx,
                           const struct roast_job *job, const int64_t fitted[2],
                           roast_slices own);

#endif
