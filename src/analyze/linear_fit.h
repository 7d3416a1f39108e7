/* SPDX-License-Identifier: BSD-3-Clause */
/* linear_fit.h - a straight line through points, one after the other.
 *
 * What a chunk costs whatever it holds, and what each of its events does; what memory
 * grows by from chunk to chunk. Zeroed = empty and valid. */
#ifndef ROAST_ANALYZE_LINEAR_FIT_H
#define ROAST_ANALYZE_LINEAR_FIT_H

#include <stdbool.h>

struct roast_linear_fit {
    double count;
    double mean_x;
    double mean_y;
    double xx; /* sums of products about the means */
    double xy;
    double yy;
};

void roast__fit_add(struct roast_linear_fit *fit, double x, double y);

/* Both NaN without points of different x. */
double roast__fit_slope(const struct roast_linear_fit *fit);
double roast__fit_at(const struct roast_linear_fit *fit, double x);

/* The square of the correlation: 0 where x or y are all the same. */
double roast__fit_r2(const struct roast_linear_fit *fit);

/* What the line leaves of the squares of y. */
double roast__fit_residual(const struct roast_linear_fit *fit);

/* Whether y rises with x so clearly that its constant part can be separated:
 * enough points, of x that differ, near to the line. */
bool roast__fit_is_clear(const struct roast_linear_fit *fit);

/* The part of the mean of y that does not depend on x, and what each x adds. All of it
 * depends on x where the line crosses zero; 0 and the mean ratio unless the fit is clear. */
double roast__fit_constant(const struct roast_linear_fit *fit);
double roast__fit_each(const struct roast_linear_fit *fit);

#endif
