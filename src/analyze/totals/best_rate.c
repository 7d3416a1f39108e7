/* SPDX-License-Identifier: BSD-3-Clause */
/* best_rate.c - the best rate over any interval of a given length.
 *
 * The cumulative amount is a piecewise linear curve with a knot where a chunk begins or
 * ends. The amount in an interval is the difference of the curve at its ends, so it is
 * largest where one of the ends is a knot: one pass over the knots finds it. */
#include "analyze/totals/best_rate.h"

#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/sort.h"

bool roast__curve_reserve(struct roast_cumulative_curve *curve, size_t chunks)
{
    curve->ends = roast__keyed_new(2 * chunks);
    return curve->ends != NULL;
}

void roast__curve_release(struct roast_cumulative_curve *curve)
{
    roast__free(curve->ends);
    roast__free(curve->knots);
    *curve = (struct roast_cumulative_curve){.ends = NULL};
}

void roast__curve_put(struct roast_cumulative_curve *curve, uint32_t number,
                      int64_t start_ns, int64_t duration_ns)
{
    int64_t end_ns = roast__sat_add(start_ns, duration_ns > 0 ? duration_ns : 1);

    curve->ends[curve->count++] = (struct roast_keyed){start_ns, 2 * number};
    curve->ends[curve->count++] = (struct roast_keyed){end_ns, 2 * number + 1};
}

bool roast__curve_sort(struct roast_cumulative_curve *curve)
{
    size_t size_bytes = curve->count * sizeof(curve->ends[0]);

    roast__keyed_sort(curve->ends, curve->ends + curve->count, curve->count);
    struct roast_keyed *ends =
        roast__realloc(curve->ends, size_bytes); /* without the room for sorting */
    if (!ends)
        return false;
    curve->ends = ends;
    curve->knots = roast__realloc(NULL, curve->count * sizeof(curve->knots[0]));
    return curve->knots != NULL;
}

double roast__curve_sum(struct roast_cumulative_curve *curve, roast_rate_of *rate_of,
                        const void *context)
{
    double total = 0, rate = 0;
    size_t running = 0;

    for (size_t i = 0; i < curve->count; i++) {
        const struct roast_keyed *end = &curve->ends[i];
        double own = rate_of(context, end->item / 2);
        if (i > 0)
            total += rate * (double)roast__time_between(end[-1].key, end->key);
        if (end->item % 2 == 0) {
            running++;
            rate += own;
        } else {
            running -= running > 0;
            rate -= own;
        }
        if (running == 0 || rate < 0)
            rate = 0; /* rounding errors must not accumulate */
        curve->knots[i] = (struct roast_knot){total, rate};
    }
    return total;
}

/* The total at a time; *at advances to the last knot before it. */
static double total_at(const struct roast_cumulative_curve *curve, size_t *at,
                       int64_t time_ns)
{
    if (time_ns <= curve->ends[0].key)
        return 0;
    while (*at + 1 < curve->count && curve->ends[*at + 1].key <= time_ns)
        (*at)++;
    const struct roast_knot *knot = &curve->knots[*at];
    return knot->total +
           knot->rate * (double)roast__time_between(curve->ends[*at].key, time_ns);
}

double roast__best_interval(const struct roast_cumulative_curve *curve,
                            int64_t length_ns)
{
    size_t ahead = 0, behind = 0;
    double best = 0;

    for (size_t i = 0; i < curve->count; i++) {
        int64_t time_ns = curve->ends[i].key;
        double total = curve->knots[i].total;
        double after =
            total_at(curve, &ahead, roast__sat_add(time_ns, length_ns)) - total;
        double before =
            total - total_at(curve, &behind, roast__sat_add(time_ns, -length_ns));
        best = after > best ? after : best;
        best = before > best ? before : best;
    }
    return best;
}
