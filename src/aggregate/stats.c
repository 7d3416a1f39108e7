/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - count, sum, extremes, spread and quantiles of a stream of numbers.
 *
 * The spread is summed about the first value, in one pass. That is safe: no value is
 * further from the mean than sqrt(n) standard deviations, so at most log2(n) of the 52
 * bits cancel. Quantiles of many values come from buckets, 64 per power of two, that
 * are read off the bits of the number: half a bucket is 0.8 % of the value. */
#include "aggregate/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    BUCKET_BITS = 6,      /* 64 buckets per power of two */
    LOWEST_EXPONENT = -16 /* smaller values share the lowest bucket, as 0 */
};

enum { LANES = 4 }; /* sums side by side, which do not wait for each other */

/* ---- plain loops ----------------------------------------------------------------- */

static bool any_unknown(const double *values, size_t count)
{
    int64_t unknown = 0;

    for (size_t i = 0; i < count; i++)
        unknown |= values[i] != values[i] ? 1 : 0;
    return unknown != 0;
}

double roast__sum(const double *values, size_t count)
{
    double lanes[LANES] = {0};
    size_t i = 0;

    for (; i + LANES <= count; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += values[i + lane];
    }
    for (; i < count; i++)
        lanes[0] += values[i];
    return lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
}

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static inline double most(double a, double b)
{
    return a > b ? a : b;
}

/* ---- moments --------------------------------------------------------------------- */

/* What is summed in one lane. */
struct lane_sums {
    double sum[LANES];
    double squares[LANES];
    double min[LANES];
    double max[LANES];
};

static inline void add_to_lane(struct lane_sums *sums, size_t lane, double value,
                               double origin)
{
    double off = value - origin;

    sums->sum[lane] += off;
    sums->squares[lane] += off * off;
    sums->min[lane] = least(value, sums->min[lane]);
    sums->max[lane] = most(value, sums->max[lane]);
}

static void join_lanes(struct roast_moments *moments, const struct lane_sums *sums)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        moments->shifted_sum += sums->sum[lane];
        moments->shifted_squares += sums->squares[lane];
        moments->min = least(sums->min[lane], moments->min);
        moments->max = most(sums->max[lane], moments->max);
    }
}

void roast__moments_add_known(struct roast_moments *moments, const double *values,
                              size_t count)
{
    struct lane_sums sums = {{0}, {0}, {0}, {0}};
    size_t i = 0;

    if (moments->count == 0 && count > 0)
        *moments = (struct roast_moments){0, values[0], values[0], values[0], 0, 0};
    double origin = moments->origin;
    for (size_t lane = 0; lane < LANES; lane++) {
        sums.min[lane] = moments->min;
        sums.max[lane] = moments->max;
    }
    for (; i + LANES <= count; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++)
            add_to_lane(&sums, lane, values[i + lane], origin);
    }
    for (; i < count; i++)
        add_to_lane(&sums, 0, values[i], origin);
    moments->count += count;
    join_lanes(moments, &sums);
}

void roast__moments_add(struct roast_moments *moments, const double *values,
                        size_t count)
{
    if (!any_unknown(values, count)) {
        roast__moments_add_known(moments, values, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i]))
            roast__moments_add_known(moments, &values[i], 1);
    }
}

double roast__moments_sum(const struct roast_moments *moments)
{
    return moments->origin * (double)moments->count + moments->shifted_sum;
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
    double squares =
        moments->shifted_squares - moments->shifted_sum * moments->shifted_sum / n;
    return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

/* ---- buckets ------------------------------------------------------------------- */

/* Exponent and leading bits of a double are its bucket; anything odd is clamped. */
static inline size_t bucket_of(double value)
{
    const int64_t lowest = (int64_t)(1023 + LOWEST_EXPONENT) << BUCKET_BITS;
    int64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    int64_t bucket = (bits >> (52 - BUCKET_BITS)) - lowest; /* negative if value < 0 */
    if (bucket < 0)
        return 0;
    return bucket < ROAST_QUANTILES_BUCKETS ? (size_t)bucket
                                            : ROAST_QUANTILES_BUCKETS - 1;
}

static double middle_of(size_t bucket)
{
    int exponent = (int)(bucket >> BUCKET_BITS) + LOWEST_EXPONENT;
    double step = (double)(bucket & ((1 << BUCKET_BITS) - 1)) + 0.5;

    return ldexp(1 + step / (1 << BUCKET_BITS), exponent);
}

static void count_values(struct roast_quantiles *quantiles, const double *values,
                         size_t count)
{
    uint32_t *buckets = quantiles->buckets;
    uint64_t known = 0;

    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        buckets[bucket_of(values[i])]++;
        known++;
    }
    quantiles->count += known;
}

/* ---- quantiles ----------------------------------------------------------------- */

static void give_up(struct roast_quantiles *quantiles)
{
    roast__quantiles_release(quantiles);
    quantiles->failed = true;
}

static bool go_to_buckets(struct roast_quantiles *quantiles)
{
    size_t kept = (size_t)quantiles->count;

    quantiles->buckets =
        roast__alloc(ROAST_QUANTILES_BUCKETS * sizeof(quantiles->buckets[0]));
    if (!quantiles->buckets)
        return false;
    quantiles->count = 0;
    count_values(quantiles, quantiles->values, kept);
    roast__free(quantiles->values);
    quantiles->values = NULL;
    quantiles->cap = 0;
    return true;
}

static bool make_room(struct roast_quantiles *quantiles, size_t more)
{
    size_t want = (size_t)quantiles->count + more;
    size_t cap = quantiles->cap > 0 ? quantiles->cap : 16;

    while (cap < want)
        cap *= 2;
    if (cap == quantiles->cap)
        return true;
    double *values = roast__realloc(quantiles->values, cap * sizeof(values[0]));
    if (!values)
        return false;
    quantiles->values = values;
    quantiles->cap = cap;
    return true;
}

static size_t known_among(const double *values, size_t count)
{
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        known += isnan(values[i]) ? 0 : 1;
    return known;
}

static void keep_values(struct roast_quantiles *quantiles, const double *values,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i]))
            quantiles->values[quantiles->count++] = values[i];
    }
}

void roast__quantiles_add(struct roast_quantiles *quantiles, const double *values,
                          size_t count)
{
    bool room = true;

    if (quantiles->failed)
        return;
    if (!quantiles->buckets) {
        size_t known = known_among(values, count);
        room = quantiles->count + known > ROAST_QUANTILES_EXACT
                   ? go_to_buckets(quantiles)
                   : make_room(quantiles, known);
    }
    if (!room)
        give_up(quantiles);
    else if (quantiles->buckets)
        count_values(quantiles, values, count);
    else
        keep_values(quantiles, values, count);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The value with `rank` values below it, as well as it is known. */
static double value_at(const struct roast_quantiles *quantiles, uint64_t rank)
{
    size_t bucket = 0;

    if (quantiles->values)
        return quantiles->values[rank];
    for (uint64_t below = quantiles->buckets[0]; below <= rank;)
        below += quantiles->buckets[++bucket];
    return bucket == 0 ? 0 : middle_of(bucket);
}

double roast__quantiles_get(struct roast_quantiles *quantiles, double share)
{
    if (quantiles->count == 0)
        return NAN;
    if (quantiles->values)
        qsort(quantiles->values, (size_t)quantiles->count, sizeof(quantiles->values[0]),
              by_value);
    double place = share * (double)(quantiles->count - 1);
    uint64_t rank = (uint64_t)place;
    double low = value_at(quantiles, rank);
    if (rank + 1 >= quantiles->count)
        return low;
    return low + (place - (double)rank) * (value_at(quantiles, rank + 1) - low);
}

void roast__quantiles_release(struct roast_quantiles *quantiles)
{
    roast__free(quantiles->values);
    roast__free(quantiles->buckets);
    *quantiles = (struct roast_quantiles){0};
}
