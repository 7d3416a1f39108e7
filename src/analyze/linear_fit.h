/* SPDX-License-Identifier: BSD-3-Clause */
/* linear_fit.h - a straight line fitted to a stream of points.
 *
 * For example the cost per chunk and per event, or the growth of memory. Zeroed = empty
 * and valid. */
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

/* The square of the correlation; 0 if all x or all y are equal. */
double roast__fit_r2(const struct roast_linear_fit *fit);

/* The sum of squares of y about the line. */
double roast__fit_residual(const struct roast_linear_fit *fit);

/* Whether y grows with x so clearly that its constant part can be separated: enough
 * points, with different x, close to the line. */
bool roast__fit_is_clear(const struct roast_linear_fit *fit);

/* The constant part of y, at least 0, and the part per x; 0 and the mean ratio if the fit
 * is not clear. */
double roast__fit_constant(const struct roast_linear_fit *fit);
double roast__fit_each(const struct roast_linear_fit *fit);

#endif
