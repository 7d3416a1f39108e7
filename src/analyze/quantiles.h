/* SPDX-License-Identifier: BSD-3-Clause */
/* quantiles.h - quantiles of a stream of numbers.
 *
 * A NaN in the input means "not known" and is left out. Zeroed = empty and valid. */
#ifndef ROAST_ANALYZE_QUANTILES_H
#define ROAST_ANALYZE_QUANTILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ROAST_QUANTILES_EXACT = 4096, /* more values than this go to buckets */
    ROAST_QUANTILES_BUCKETS = 80 * 64,
};

/* For values >= 0. */
struct roast_quantiles {
    uint64_t count;
    double *values; /* owned; every value, while they are few */
    size_t cap;
    uint32_t *buckets; /* owned; NULL while they are few */
    bool failed;       /* out of memory: nothing is known */
};

void roast__quantiles_add(struct roast_quantiles *quantiles, const double *values,
                          size_t count);

/* The value below which `share` (0 ... 1) of the values lie, between two of them by
 * linear interpolation; within 1 % once there are buckets, and then perhaps beyond the
 * extremes by as much. NaN without any. */
double roast__quantiles_get(struct roast_quantiles *quantiles, double share);

void roast__quantiles_release(struct roast_quantiles *quantiles);

#endif
