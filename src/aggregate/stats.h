/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - count, sum, extremes, spread and quantiles of a stream of numbers.
 *
 * A NaN in the input means "not known" and is left out. Zeroed = empty and valid. */
#ifndef ROAST_AGGREGATE_STATS_H
#define ROAST_AGGREGATE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums about the first value. */
struct roast_spread {
    uint64_t count;
    double origin; /* the first value */
    double sum;    /* of value - origin */
    double squares;
};

/* Valid when a count beside it says that there are values. */
struct roast_extremes {
    double min;
    double max;
};

struct roast_moments {
    struct roast_spread spread;
    struct roast_extremes extremes;
};

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count);

/* Extremes widen; they begin as the caller says. */
void roast__extremes_add(struct roast_extremes *extremes, const double *values,
                         size_t count);

/* For values that are all known: quicker. */
void roast__spread_add_known(struct roast_spread *spread, const double *values,
                             size_t count);
double roast__sum_known(const double *values, size_t count);

double roast__spread_sum(const struct roast_spread *spread); /* 0 without any */

/* Both give NaN where they are not defined: no value, and fewer than two. */
double roast__spread_mean(const struct roast_spread *spread);
double roast__spread_std(const struct roast_spread *spread); /* n - 1 */

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
