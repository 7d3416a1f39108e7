/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h - one series of several workers, summed over the workers at every time.
 *
 * A sample holds for the time since the previous sample of its worker. Workers are read
 * side by side, so the memory needed does not grow with the length of the run. */
#ifndef ROAST_ANALYZE_TOTALS_SWEEP_H
#define ROAST_ANALYZE_TOTALS_SWEEP_H

#include "run/series.h"

/* The workers to sum. Those of one group share a machine and report its value: their
 * mean counts once. */
struct roast_lanes {
    const struct roast_samples *samples;
    const bool *wanted;    /* per worker; NULL: all */
    const uint32_t *group; /* per worker, below the number of workers; NULL: its own */
};

struct roast_sweep {
    bool known;
    double mean; /* over the sampled time */
    double peak;
};

/* False when out of memory. */
bool roast__sweep(struct roast_sweep *out, const struct roast_lanes *lanes,
                  enum roast_series series);

/* Calls visit for every distinct time at which any worker was sampled, in order. False
 * when out of memory. */
bool roast__sweep_times(const struct roast_samples *samples,
                        void (*visit)(void *context, int64_t time_ns), void *context);

#endif
