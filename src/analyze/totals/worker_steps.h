/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_steps.h - how many workers and threads there were over time.
 *
 * Offers are steps: each holds until the next, and the first also before it, because
 * the executor was there. Sampled counts are joined by straight lines. */
#ifndef ROAST_ANALYZE_TOTALS_WORKER_STEPS_H
#define ROAST_ANALYZE_TOTALS_WORKER_STEPS_H

#include "run/run.h"

/* The part of worker numbers below which the pool counts as not complete. */
#define ROAST_NEAR_PEAK 0.9

struct roast_pool {
    double worker_seconds;  /* integral of W */
    double thread_seconds;  /* integral of N; 0 where only counts exist */
    double ratio_seconds;   /* integral of N / W over the time with workers */
    double staffed_seconds; /* that time */
    double span_seconds;
    double peak_workers;
    double below_peak_seconds;
};

/* Over [start, end]; there is at least one offer. */
void roast__pool_of_offers(struct roast_pool *pool, const struct roast_offer *offers,
                           size_t count, int64_t start_ns, int64_t end_ns);

/* Over the span of the counts; there is at least one. */
void roast__pool_of_counts(struct roast_pool *pool, const struct roast_count *counts,
                           size_t count);

#endif
