/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h - the best rate over any window of a given length.
 *
 * What a chunk did is spread evenly over its time. */
#ifndef ROAST_AGGREGATE_WINDOW_H
#define ROAST_AGGREGATE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* One end of a chunk's time: from here on the rate is different. */
struct roast_knot {
    int64_t time_ns;
    double rate_change; /* amounts per ns */
    double total;       /* filled by roast__knots_sum(): amount up to here */
    double rate;        /* and the rate from here on */
};

/* Two knots of a chunk that did `amount`; a chunk without duration takes 1 ns. */
void roast__knots_put(struct roast_knot knots[2], int64_t start_ns, int64_t duration_ns,
                      double amount);

/* Sorts knots by time and fills their totals. */
void roast__knots_sum(struct roast_knot *knots, size_t count);

/* The largest amount within any window_ns. */
double roast__best_window(const struct roast_knot *knots, size_t count,
                          int64_t window_ns);

#endif
