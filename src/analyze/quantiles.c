/* SPDX-License-Identifier: BSD-3-Clause */
/* quantiles.c - quantiles of a stream of numbers >= 0.
 *
 * Many values are counted in buckets, 64 per power of two. The exponent and the leading
 * bits of a double are its bucket; half a bucket is 0.8 % of the value. */
#include "analyze/quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

enum {
    BUCKET_BITS = 6,      /* 64 buckets per power of two */
    LOWEST_EXPONENT = -16 /* smaller values share the lowest bucket, as 0 */
};

/* Values outside the buckets are counted in the first or the last one. */
static size_t bucket_of(double value)
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

static bool move_to_buckets(struct roast_quantiles *quantiles)
{
    quantiles->buckets =
        roast__alloc(ROAST_QUANTILES_BUCKETS * sizeof(quantiles->buckets[0]));
    for (size_t i = 0; quantiles->buckets && i < quantiles->count; i++)
        quantiles->buckets[bucket_of(quantiles->values[i])]++;
    roast__free(quantiles->values);
    quantiles->values = NULL;
    return quantiles->buckets != NULL;
}

void roast__quantiles_add(struct roast_quantiles *quantiles, double value)
{
    if (quantiles->failed || isnan(value))
        return;
    if (quantiles->buckets) {
        quantiles->buckets[bucket_of(value)]++;
        quantiles->count++;
        return;
    }
    double *values = roast__array_room(quantiles->values, &quantiles->cap,
                                       (size_t)quantiles->count, sizeof(values[0]));
    if (values) {
        quantiles->values = values;
        values[quantiles->count++] = value;
    }
    if (!values ||
        (quantiles->count > ROAST_QUANTILES_EXACT && !move_to_buckets(quantiles))) {
        roast__quantiles_release(quantiles);
        quantiles->failed = true;
    }
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The value with `rank` values below it; the middle of its bucket. */
static double value_at(const struct roast_quantiles *quantiles, uint64_t rank)
{
    size_t bucket = 0;

    if (quantiles->values)
        return quantiles->values[rank];
    for (uint64_t below = quantiles->buckets[0]; below <= rank;)
        below += quantiles->buckets[++bucket];
    if (bucket == 0)
        return 0;
    int exponent = (int)(bucket >> BUCKET_BITS) + LOWEST_EXPONENT;
    double step = (double)(bucket & ((1 << BUCKET_BITS) - 1)) + 0.5;
    return ldexp(1 + step / (1 << BUCKET_BITS), exponent);
}

double roast__quantiles_get(struct roast_quantiles *quantiles, double share)
{
    if (quantiles->count == 0)
        return NAN;
    if (quantiles->values)
        qsort(quantiles->values, (size_t)quantiles->count, sizeof(quantiles->values[0]),
              by_value);
    double position = share * (double)(quantiles->count - 1);
    uint64_t rank = (uint64_t)position;
    double low = value_at(quantiles, rank);
    if (rank + 1 >= quantiles->count)
        return low;
    return low + (position - (double)rank) * (value_at(quantiles, rank + 1) - low);
}

void roast__quantiles_release(struct roast_quantiles *quantiles)
{
    roast__free(quantiles->values);
    roast__free(quantiles->buckets);
    *quantiles = (struct roast_quantiles){0};
}
