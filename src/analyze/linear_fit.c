/* SPDX-License-Identifier: BSD-3-Clause */
/* linear_fit.c - a straight line fitted to a stream of points.
 *
 * Means are updated with every point: plain sums of squares would lose digits. */
#include "analyze/linear_fit.h"

#include <math.h>

enum { MIN_POINTS = 8 };

static const double MIN_SPREAD = 0.1; /* of x, relative to the mean */
static const double MIN_R2 = 0.5;

void roast__fit_add(struct roast_linear_fit *fit, double x, double y)
{
    double off_x = x - fit->mean_x, off_y = y - fit->mean_y;

    fit->count++;
    fit->mean_x += off_x / fit->count;
    fit->mean_y += off_y / fit->count;
    fit->xx += off_x * (x - fit->mean_x);
    fit->xy += off_x * (y - fit->mean_y);
    fit->yy += off_y * (y - fit->mean_y);
}

double roast__fit_slope(const struct roast_linear_fit *fit)
{
    return fit->xx > 0 ? fit->xy / fit->xx : NAN;
}

double roast__fit_at(const struct roast_linear_fit *fit, double x)
{
    return fit->mean_y + roast__fit_slope(fit) * (x - fit->mean_x);
}

double roast__fit_r2(const struct roast_linear_fit *fit)
{
    return fit->xx > 0 && fit->yy > 0 ? fit->xy / fit->xx * (fit->xy / fit->yy) : 0;
}

double roast__fit_residual(const struct roast_linear_fit *fit)
{
    return fmax(0, fit->yy * (1 - roast__fit_r2(fit)));
}

bool roast__fit_is_clear(const struct roast_linear_fit *fit)
{
    double spread = sqrt(fit->xx / fit->count);

    return fit->count >= MIN_POINTS && spread >= MIN_SPREAD * fit->mean_x &&
           fit->xy > 0 && roast__fit_r2(fit) >= MIN_R2;
}

double roast__fit_constant(const struct roast_linear_fit *fit)
{
    return roast__fit_is_clear(fit) ? fmax(0, roast__fit_at(fit, 0)) : 0;
}

double roast__fit_each(const struct roast_linear_fit *fit)
{
    return (fit->mean_y - roast__fit_constant(fit)) / fit->mean_x;
}
