/* SPDX-License-Identifier: BSD-3-Clause */
/* best_rate.c - the best rate over any window of a given length.
 *
 * The amount done up to a moment is a curve with a knot where a chunk begins or ends.
 * What lies in a window is the difference of that curve at its two ends, so it is most
 * where one of the ends is a knot: two walks over the knots find it exactly. */
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
    struct roast_keyed *ends = roast__realloc(curve->ends, size_bytes); /* no room */
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
            rate = 0; /* what rounding left over must not add up */
        curve->knots[i] = (struct roast_knot){total, rate};
    }
    return total;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The total at a moment; *at walks along and stays at the last knot before it. */
static inline double total_at(const struct roast_cumulative_curve *curve, size_t *at,
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

/* Knots before the two ends of a window; they only walk forward. */
struct walkers {
    size_t ahead;
    size_t behind;
};

/* The most that lies in a window which begins or ends at a knot. */
static double most_at(const struct roast_cumulative_curve *curve, size_t knot,
                      int64_t window_ns, struct walkers *walkers)
{
    int64_t time_ns = curve->ends[knot].key;
    double here = curve->knots[knot].total;
    double from_here =
        total_at(curve, &walkers->ahead, roast__sat_add(time_ns, window_ns)) - here;
    double up_to_here =
        here - total_at(curve, &walkers->behind, roast__sat_add(time_ns, -window_ns));

    return larger(from_here, up_to_here);
}

/* No window of these knots holds more than one from the first of them to the last. Moves
 * the walkers to where those of the next knots begin. */
static double most_among(const struct roast_cumulative_curve *curve, size_t first,
                         size_t last, int64_t window_ns, struct walkers *walkers)
{
    int64_t low_ns = roast__sat_add(curve->ends[first].key, -window_ns);
    int64_t high_ns = roast__sat_add(curve->ends[last].key, window_ns);
    double ahead =
        total_at(curve, &walkers->ahead, high_ns) - curve->knots[first].total;
    double behind =
        curve->knots[last].total - total_at(curve, &walkers->behind, low_ns);

    return larger(ahead, behind);
}

/* Nearly all knots are left out: first every 16th one is evaluated, then only those are
 * that could hold more than the best of these. */
double roast__best_window(const struct roast_cumulative_curve *curve, int64_t window_ns)
{
    enum { STRIDE = 16 };
    struct walkers rough = {0, 0}, walkers = {0, 0};
    double best = 0;

    for (size_t i = 0; i < curve->count; i += STRIDE)
        best = larger(best, most_at(curve, i, window_ns, &rough));
    for (size_t first = 0; first < curve->count; first += STRIDE) {
        size_t left = curve->count - first;
        size_t end = first + (left < STRIDE ? left : STRIDE);
        struct walkers own = walkers;
        if (most_among(curve, first, end - 1, window_ns, &walkers) <= best)
            continue;
        for (size_t i = first; i < end; i++)
            best = larger(best, most_at(curve, i, window_ns, &own));
    }
    return best;
}
