/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - count, sum, extremes, spread and quantiles of a stream of numbers.
 *
 * A NaN in the input means "not known" and is left out. Zeroed = empty and valid. */
#ifndef ROAST_AGGREGATE_STATS_H
#define ROAST_AGGREGATE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_moments {
    uint64_t count;
    double min;
    double max;
    double origin; /* the first value; the two sums below are about it */
    double shifted_sum;
    double shifted_squares;
};

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count);

/* The same for values that are all known: quicker. */
void roast__moments_add_known(struct roast_moments *moments, const double *values,
                              size_t count);

double roast__moments_sum(const struct roast_moments *moments); /* 0 without any */

/* Both give NaN where they are not defined: no value, and fewer than two. */
double roast__moments_mean(const struct roast_moments *moments);
double roast__moments_std(const struct roast_moments *moments); /* n - 1 */

/* The sum of values that are all known. */
double roast__sum(const double *values, size_t count);

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
    bool failed; /* out of memory: nothing is known */
};

void roast__quantiles_add(struct roast_quantiles *quantiles, const double *values,
                          size_t count);

/* The value below which `share` (0 ... 1) of the values lie, between two of them by
 * linear interpolation; within 1 % once there are buckets, and then perhaps beyond the
 * extremes by as much. NaN without any. */
double roast__quantiles_get(struct roast_quantiles *quantiles, double share);

void roast__quantiles_release(struct roast_quantiles *quantiles);

#endif
