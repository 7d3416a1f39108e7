/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - count, sum, extremes and spread of a stream of numbers.
 *
 * The spread is summed about the first value, in one pass. That is safe: no value is
 * further from the mean than sqrt(n) standard deviations, so at most log2(n) of the 52
 * bits cancel. */
#include "analyze/stats.h"

#include <math.h>
#include <string.h>

#include "roast/analyze.h"

/* Two numbers that one instruction works on. Sums run in two of them side by side,
 * which do not wait for each other. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

enum { STEP = 4 }; /* values per round */

static inline pair load_pair(const double *values)
{
    pair both;

    memcpy(&both, values, sizeof(both));
    return both;
}

bool roast__any_unknown(const double *values, size_t count)
{
    mask odd = {0, 0};
    size_t i = 0;

    for (; i + 2 <= count; i += 2) {
        pair both = load_pair(values + i);
        odd |= both != both;
    }
    return (odd[0] | odd[1]) != 0 || (i < count && isnan(values[i]));
}

double roast__sum_known(const double *values, size_t count)
{
    pair sums[2] = {{0, 0}, {0, 0}};
    size_t i = 0;

    for (; i + STEP <= count; i += STEP) {
        sums[0] += load_pair(values + i);
        sums[1] += load_pair(values + i + 2);
    }
    for (; i < count; i++)
        sums[0][0] += values[i];
    sums[0] += sums[1];
    return sums[0][0] + sums[0][1];
}

/* ---- spread ---------------------------------------------------------------------- */

void roast__spread_add_known(struct roast_spread *spread, const double *values,
                             size_t count)
{
    pair sums[2] = {{0, 0}, {0, 0}}, squares[2] = {{0, 0}, {0, 0}};
    size_t i = 0;

    if (spread->count == 0 && count > 0)
        spread->origin = values[0];
    double origin = spread->origin;
    for (; i + STEP <= count; i += STEP) {
        pair low = load_pair(values + i) - origin;
        pair high = load_pair(values + i + 2) - origin;
        sums[0] += low;
        sums[1] += high;
        squares[0] += low * low;
        squares[1] += high * high;
    }
    for (; i < count; i++) {
        double off = values[i] - origin;
        sums[0][0] += off;
        squares[0][0] += off * off;
    }
    sums[0] += sums[1];
    squares[0] += squares[1];
    spread->count += count;
    spread->sum += sums[0][0] + sums[0][1];
    spread->squares += squares[0][0] + squares[0][1];
}

void roast__spread_merge(struct roast_spread *spread, const struct roast_spread *part)
{
    double n = (double)part->count;
    double off = part->origin - spread->origin;

    if (part->count == 0)
        return;
    if (spread->count == 0) {
        *spread = *part;
        return;
    }
    spread->count += part->count;
    spread->squares += part->squares + off * (2 * part->sum + n * off);
    spread->sum += part->sum + n * off;
}

double roast__spread_sum(const struct roast_spread *spread)
{
    return spread->origin * (double)spread->count + spread->sum;
}

double roast__spread_mean(const struct roast_spread *spread)
{
    return spread->count > 0 ? roast__spread_sum(spread) / (double)spread->count : NAN;
}

double roast__spread_std(const struct roast_spread *spread)
{
    double n = (double)spread->count;

    if (spread->count < 2)
        return NAN;
    double squares = spread->squares - spread->sum * spread->sum / n;
    return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

/* ---- extremes -------------------------------------------------------------------- */

/* Comparing with a NaN is false. */
void roast__extremes_add(struct roast_extremes *extremes, const double *values,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        extremes->min = values[i] < extremes->min ? values[i] : extremes->min;
        extremes->max = values[i] > extremes->max ? values[i] : extremes->max;
    }
}

/* ---- moments --------------------------------------------------------------------- */

static void add_known(struct roast_moments *moments, const double *values, size_t count)
{
    if (moments->spread.count == 0 && count > 0)
        moments->extremes = (struct roast_extremes){values[0], values[0]};
    roast__spread_add_known(&moments->spread, values, count);
    roast__extremes_add(&moments->extremes, values, count);
}

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count)
{
    if (!roast__any_unknown(values, count)) {
        add_known(moments, values, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i]))
            add_known(moments, &values[i], 1);
    }
}

/* ---- statistics of a caller's numbers -------------------------------------------- */

struct roast_statistics roast_statistics_of(const double *values, size_t count)
{
    struct roast_statistics found = {.count = count};
    struct roast_moments moments = {0};
    double sum = 0, lost = 0; /* Neumaier: what rounding took from the sum */

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
    found.min = moments.extremes.min;
    found.max = moments.extremes.max;
    if (count > 1)
        found.std = isnan(sum) ? sum : roast__spread_std(&moments.spread);
    return found;
}
