/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h - one series of several workers, summed over the workers at every moment.
 *
 * A sample speaks for the time since the worker's sample before it. Workers are walked
 * side by side, so the memory needed does not grow with the length of the run. */
#ifndef ROAST_ANALYZE_TOTALS_SWEEP_H
#define ROAST_ANALYZE_TOTALS_SWEEP_H

#include "run/series.h"

/* Which workers, and whose value is the same: those in one group share one machine, and
 * their mean counts once. */
struct roast_lanes {
    const struct roast_samples *samples;
    const bool *wanted;    /* per worker */
    const uint32_t *group; /* per worker, below the number of workers; NULL: its own */
};

struct roast_sweep {
    bool known;
    double mean; /* over the time that was sampled */
    double peak;
};

/* False when out of memory. */
bool roast__sweep(struct roast_sweep *out, const struct roast_lanes *lanes,
                  enum roast_series series);

/* Calls visit for every distinct moment at which any worker was sampled, in order.
 * False when out of memory. */
bool roast__sweep_moments(const struct roast_samples *samples,
                          void (*visit)(void *context, int64_t time_ns), void *context);

#endif
