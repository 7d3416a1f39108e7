/* SPDX-License-Identifier: BSD-3-Clause */
/* quantiles.c - quantiles of a stream of numbers.
 *
 * Those of many values come from buckets, 64 per power of two, that are read off the
 * bits of the number: half a bucket is 0.8 % of the value. */
#include "analyze/quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stats.h"
#include "base/mem.h"

enum {
    BUCKET_BITS = 6,      /* 64 buckets per power of two */
    LOWEST_EXPONENT = -16 /* smaller values share the lowest bucket, as 0 */
};

/* ---- buckets ------------------------------------------------------------------- */

/* Exponent and leading bits of a double are its bucket; anything odd is clamped. */
static inline size_t bucket_of(double value)
{
    const int64_t lowest = (int64_t)(1023 + LOWEST_EXPONENT) << BUCKET_BITS;
    int64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    int64_t bucket = (bits >> (52 - BUCKET_BITS)) - lowest; /* negative if value < 0 */
    if ((uint64_t)bucket < ROAST_QUANTILES_BUCKETS)
        return (size_t)bucket;
    return bucket < 0 ? 0 : ROAST_QUANTILES_BUCKETS - 1;
}

static double middle_of(size_t bucket)
{
    int exponent = (int)(bucket >> BUCKET_BITS) + LOWEST_EXPONENT;
    double step = (double)(bucket & ((1 << BUCKET_BITS) - 1)) + 0.5;

    return ldexp(1 + step / (1 << BUCKET_BITS), exponent);
}

static void count_known(struct roast_quantiles *quantiles, const double *values,
                        size_t count)
{
    uint32_t *buckets = quantiles->buckets;

    for (size_t i = 0; i < count; i++)
        buckets[bucket_of(values[i])]++;
    quantiles->count += count;
}

static void count_values(struct roast_quantiles *quantiles, const double *values,
                         size_t count)
{
    if (!roast__any_unknown(values, count)) {
        count_known(quantiles, values, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i]))
            count_known(quantiles, &values[i], 1);
    }
}

/* ---- quantiles ----------------------------------------------------------------- */

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

void roast__quantiles_add(struct roast_quantiles *quantiles, const double *values,
                          size_t count)
{
    bool room = true;

    if (quantiles->failed)
        return;
    if (!quantiles->buckets) {
        size_t known = 0;
        for (size_t i = 0; i < count; i++)
            known += isnan(values[i]) ? 0 : 1;
        room = quantiles->count + known > ROAST_QUANTILES_EXACT
                   ? go_to_buckets(quantiles)
                   : make_room(quantiles, known);
    }
    if (!room) {
        roast__quantiles_release(quantiles);
        quantiles->failed = true;
    } else if (quantiles->buckets) {
        count_values(quantiles, values, count);
    } else if (quantiles->values) {
        for (size_t i = 0; i < count; i++) {
            if (!isnan(values[i]))
                quantiles->values[quantiles->count++] = values[i];
        }
    }
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
