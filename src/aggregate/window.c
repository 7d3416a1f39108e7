/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c - the best rate over any window of a given length.
 *
 * The amount done up to a moment is a line with a knot where a chunk begins or ends.
 * What lies in a window is the difference of that line at its two ends, so it is most
 * where one of the ends is a knot: two walks over the knots find it exactly. */
#include "aggregate/window.h"

#include <stdlib.h>

#include "aggregate/timeline.h"

void roast__knots_put(struct roast_knot knots[2], int64_t start_ns, int64_t duration_ns,
                      double amount)
{
    int64_t length_ns = duration_ns > 0 ? duration_ns : 1;
    int64_t end_ns = roast__sat_add(start_ns, length_ns);
    double rate = amount / (double)length_ns;

    knots[0] = (struct roast_knot){start_ns, rate, 0, 0};
    knots[1] = (struct roast_knot){end_ns, -rate, 0, 0};
}

static int by_time(const void *a, const void *b)
{
    int64_t left = ((const struct roast_knot *)a)->time_ns;
    int64_t right = ((const struct roast_knot *)b)->time_ns;

    return (left > right) - (left < right);
}

void roast__knots_sum(struct roast_knot *knots, size_t count)
{
    double total = 0, rate = 0;
    size_t running = 0;

    if (count > 0)
        qsort(knots, count, sizeof(knots[0]), by_time);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            total += rate * (double)roast__time_between(knots[i - 1].time_ns,
                                                        knots[i].time_ns);
        if (knots[i].rate_change >= 0)
            running++;
        else if (running > 0)
            running--;
        rate += knots[i].rate_change;
        if (running == 0 || rate < 0)
            rate = 0; /* what rounding left over must not add up */
        knots[i].total = total;
        knots[i].rate = rate;
    }
}

/* The total at a moment; *at walks along and stays at the last knot before it. */
static double total_at(const struct roast_knot *knots, size_t count, size_t *at,
                       int64_t time_ns)
{
    if (time_ns <= knots[0].time_ns)
        return 0;
    while (*at + 1 < count && knots[*at + 1].time_ns <= time_ns)
        (*at)++;
    const struct roast_knot *knot = &knots[*at];
    return knot->total +
           knot->rate * (double)roast__time_between(knot->time_ns, time_ns);
}

double roast__best_window(const struct roast_knot *knots, size_t count,
                          int64_t window_ns)
{
    size_t ahead = 0, behind = 0;
    double best = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t time_ns = knots[i].time_ns;
        double from_here =
            total_at(knots, count, &ahead, roast__sat_add(time_ns, window_ns)) -
            knots[i].total;
        double up_to_here =
            knots[i].total -
            total_at(knots, count, &behind, roast__sat_add(time_ns, -window_ns));
        best = from_here > best ? from_here : best;
        best = up_to_here > best ? up_to_here : best;
    }
    return best;
}
