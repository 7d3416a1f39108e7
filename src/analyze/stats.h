/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - count, sum, minimum, maximum and standard deviation of a stream of numbers.
 *
 * A NaN in the input means "not known" and is ignored. Zeroed = empty and valid. */
#ifndef ROAST_ANALYZE_STATS_H
#define ROAST_ANALYZE_STATS_H

#include <stddef.h>
#include <stdint.h>

struct roast_moments {
    uint64_t count;
    double origin; /* the first value */
    double sum;    /* of value - origin */
    double squares;
    double min; /* this and max: valid if count > 0 */
    double max;
};

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count);

double roast__moments_sum(const struct roast_moments *moments);  /* 0 if empty */
double roast__moments_mean(const struct roast_moments *moments); /* NaN if empty */

/* Of the sample (n - 1); NaN with fewer than two values. */
double roast__moments_std(const struct roast_moments *moments);

#endif
