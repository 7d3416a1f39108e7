/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - count, sum, extremes and spread of a stream of numbers.
 *
 * A NaN in the input means "not known" and is left out. Zeroed = empty and valid. */
#ifndef ROAST_ANALYZE_STATS_H
#define ROAST_ANALYZE_STATS_H

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

/* Valid if the count beside it is not 0. */
struct roast_extremes {
    double min;
    double max;
};

struct roast_moments {
    struct roast_spread spread;
    struct roast_extremes extremes;
};

/* Whether there is a NaN among them. */
bool roast__any_unknown(const double *values, size_t count);

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count);

/* Extremes widen; the caller initializes them. */
void roast__extremes_add(struct roast_extremes *extremes, const double *values,
                         size_t count);

/* For values that are all known: quicker. */
void roast__spread_add_known(struct roast_spread *spread, const double *values,
                             size_t count);
double roast__sum_known(const double *values, size_t count);

void roast__spread_merge(struct roast_spread *spread, const struct roast_spread *part);
double roast__spread_sum(const struct roast_spread *spread); /* 0 without any */

/* Both give NaN where they are not defined: no value, and fewer than two. */
double roast__spread_mean(const struct roast_spread *spread);
double roast__spread_std(const struct roast_spread *spread); /* n - 1 */

#endif
