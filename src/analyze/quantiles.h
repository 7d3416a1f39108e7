/* SPDX-License-Identifier: BSD-3-Clause */
/* quantiles.h - quantiles of a stream of numbers >= 0.
 *
 * A NaN in the input means "not known" and is ignored. Zeroed = empty and valid. */
#ifndef ROAST_ANALYZE_QUANTILES_H
#define ROAST_ANALYZE_QUANTILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ROAST_QUANTILES_EXACT = 4096, /* more values than this are counted in buckets */
    ROAST_QUANTILES_BUCKETS = 80 * 64,
};

struct roast_quantiles {
    uint64_t count;
    double *values; /* owned; every value, up to ROAST_QUANTILES_EXACT */
    size_t cap;
    uint32_t *buckets; /* owned; NULL up to ROAST_QUANTILES_EXACT */
    bool failed;       /* out of memory: nothing is known */
};

void roast__quantiles_add(struct roast_quantiles *quantiles, double value);

/* The value below which `share` (0 ... 1) of the values are, interpolated linearly
 * between two of them. From buckets it is within 1 %, and may exceed the extremes by as
 * much. NaN if empty. */
double roast__quantiles_get(struct roast_quantiles *quantiles, double share);

void roast__quantiles_release(struct roast_quantiles *quantiles);

#endif
