/* SPDX-License-Identifier: BSD-3-Clause */
/* linear_fit.c - a straight line through points, one after the other.
 *
 * Means are followed as they change: sums of squares of long runs would lose digits. */
#include "analyze/linear_fit.h"

#include <math.h>

enum { FEWEST_POINTS = 8 };

static const double LEAST_SPREAD = 0.1; /* of x, relative to the mean */
static const double LEAST_R2 = 0.5;

void roast__fit_add(struct roast_linear_fit *line, double x, double y)
{
    double off_x = x - line->mean_x, off_y = y - line->mean_y;

    line->count++;
    line->mean_x += off_x / line->count;
    line->mean_y += off_y / line->count;
    line->xx += off_x * (x - line->mean_x);
    line->xy += off_x * (y - line->mean_y);
    line->yy += off_y * (y - line->mean_y);
}

double roast__fit_slope(const struct roast_linear_fit *line)
{
    return line->xx > 0 ? line->xy / line->xx : NAN;
}

double roast__fit_at(const struct roast_linear_fit *line, double x)
{
    return line->mean_y + roast__fit_slope(line) * (x - line->mean_x);
}

double roast__fit_r2(const struct roast_linear_fit *line)
{
    return line->xx > 0 && line->yy > 0 ? line->xy / line->xx * (line->xy / line->yy)
                                        : 0;
}

double roast__fit_residual(const struct roast_linear_fit *line)
{
    return fmax(0, line->yy * (1 - roast__fit_r2(line)));
}

bool roast__fit_is_clear(const struct roast_linear_fit *line)
{
    double spread = sqrt(line->xx / line->count);

    return line->count >= FEWEST_POINTS && spread >= LEAST_SPREAD * line->mean_x &&
           line->xy > 0 && roast__fit_r2(line) >= LEAST_R2;
}

double roast__fit_constant(const struct roast_linear_fit *line)
{
    return roast__fit_is_clear(line) ? fmax(0, roast__fit_at(line, 0)) : 0;
}

double roast__fit_each(const struct roast_linear_fit *line)
{
    return (line->mean_y - roast__fit_constant(line)) / line->mean_x;
}
