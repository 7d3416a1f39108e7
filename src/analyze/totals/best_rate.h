/* SPDX-License-Identifier: BSD-3-Clause */
/* best_rate.h - the best rate over any interval of a given length.
 *
 * The amount of a chunk is spread evenly over its duration. Chunks are added and sorted
 * once; then several of their amounts can be summed, one after the other. */
#ifndef ROAST_ANALYZE_TOTALS_BEST_RATE_H
#define ROAST_ANALYZE_TOTALS_BEST_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_keyed;

/* The amount up to a time, and the rate per ns from there to the next knot. */
struct roast_knot {
    double total;
    double rate;
};

/* Amounts over time. Zeroed = empty and valid; everything is owned. */
struct roast_cumulative_curve {
    struct roast_keyed *ends; /* of chunks: item is 2 x number, + 1 where it stops */
    struct roast_knot *knots; /* at each of them */
    size_t count;
};

/* Reserves room for chunks; false when out of memory. */
bool roast__curve_reserve(struct roast_cumulative_curve *curve, size_t chunks);
void roast__curve_release(struct roast_cumulative_curve *curve);

/* Adds the time of a chunk; one without duration takes 1 ns. */
void roast__curve_put(struct roast_cumulative_curve *curve, uint32_t number,
                      int64_t start_ns, int64_t duration_ns);

/* Call it after all chunks are added; false when out of memory. */
bool roast__curve_sort(struct roast_cumulative_curve *curve);

/* The amount of chunk `number` per ns, not negative. */
typedef double roast_rate_of(const void *context, uint32_t number);

/* Fills the knots; returns the amount of all chunks. */
double roast__curve_sum(struct roast_cumulative_curve *curve, roast_rate_of *rate_of,
                        const void *context);

/* The largest amount in any interval of length_ns. */
double roast__best_interval(const struct roast_cumulative_curve *curve,
                            int64_t length_ns);

#endif
