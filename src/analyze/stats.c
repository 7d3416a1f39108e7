/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - count, sum, minimum, maximum and standard deviation of a stream of numbers.
 *
 * Squares are summed about the first value, in one pass. That is safe: no value is
 * further from the mean than sqrt(n) standard deviations, so at most log2(n) of the 52
 * bits cancel. */
#include "analyze/stats.h"

#include <math.h>

#include "roast/analyze.h"

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count)
{
    struct roast_moments sums = *moments; /* a copy that stays in registers */

    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        if (isnan(value))
            continue;
        if (sums.count++ == 0)
            sums.origin = sums.min = sums.max = value;
        double off = value - sums.origin;
        sums.sum += off;
        sums.squares += off * off;
        sums.min = value < sums.min ? value : sums.min;
        sums.max = value > sums.max ? value : sums.max;
    }
    *moments = sums;
}

double roast__moments_sum(const struct roast_moments *moments)
{
    return moments->origin * (double)moments->count + moments->sum;
}

double roast__moments_mean(const struct roast_moments *moments)
{
    return moments->count > 0 ? roast__moments_sum(moments) / (double)moments->count
                              : NAN;
}

double roast__moments_std(const struct roast_moments *moments)
{
    double n = (double)moments->count;

    if (moments->count < 2)
        return NAN;
    double squares = moments->squares - moments->sum * moments->sum / n;
    return squares < 0 ? 0 : sqrt(squares / (n - 1)); /* NaN with an infinity */
}

struct roast_statistics roast_statistics_of(const double *values, size_t count)
{
    struct roast_statistics found = {.count = count};
    struct roast_moments moments = {0};
    double sum = 0, lost = 0; /* Neumaier: the rounding error of the sum */

    if (count == 0)
        return found;
    for (size_t i = 0; i < count; i++) {
        double next = sum + values[i];
        lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i]
                                             : (values[i] - next) + sum;
        sum = next;
    }
    roast__moments_add(&moments, values, count);
    found.sum = isfinite(sum) ? sum + lost : sum;
    found.mean = found.sum / (double)count;
    found.min = moments.min;
    found.max = moments.max;
    if (count > 1)
        found.std = isnan(sum) ? sum : roast__moments_std(&moments);
    return found;
}
