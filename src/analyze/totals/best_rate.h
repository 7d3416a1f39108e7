/* SPDX-License-Identifier: BSD-3-Clause */
/* best_rate.h - the best rate over any window of a given length.
 *
 * What a chunk did is spread evenly over its time. Chunks are put and sorted once; then
 * any amount of theirs can be summed up, one after the other. */
#ifndef ROAST_ANALYZE_TOTALS_BEST_RATE_H
#define ROAST_ANALYZE_TOTALS_BEST_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_keyed;

/* The amount up to a moment, and what is done per ns from there on. */
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

/* Room for so many chunks; false when out of memory. */
bool roast__curve_reserve(struct roast_cumulative_curve *curve, size_t chunks);
void roast__curve_release(struct roast_cumulative_curve *curve);

/* The time of a chunk; one without duration takes 1 ns. */
void roast__curve_put(struct roast_cumulative_curve *curve, uint32_t number,
                      int64_t start_ns, int64_t duration_ns);

/* When all are put; false when out of memory. */
bool roast__curve_sort(struct roast_cumulative_curve *curve);

/* What chunk `number` did per ns, not negative. */
typedef double roast_rate_of(const void *context, uint32_t number);

/* Fills the knots; gives the amount of all chunks. */
double roast__curve_sum(struct roast_cumulative_curve *curve, roast_rate_of *rate_of,
                        const void *context);

/* The largest amount within any window_ns. */
double roast__best_window(const struct roast_cumulative_curve *curve,
                          int64_t window_ns);

#endif
