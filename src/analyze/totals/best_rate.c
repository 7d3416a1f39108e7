/* SPDX-License-Identifier: BSD-3-Clause */
/* best_rate.c - the best rate over any window of a given length.
 *
 * The amount done up to a moment is a line with a knot where a chunk begins or ends.
 * What lies in a window is the difference of that line at its two ends, so it is most
 * where one of the ends is a knot: two walks over the knots find it exactly. */
#include "analyze/totals/best_rate.h"

#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/sort.h"

bool roast__curve_reserve(struct roast_cumulative_curve *line, size_t chunks)
{
    line->ends = roast__keyed_new(2 * chunks);
    return line->ends != NULL;
}

void roast__curve_release(struct roast_cumulative_curve *line)
{
    roast__free(line->ends);
    roast__free(line->knots);
    *line = (struct roast_cumulative_curve){.ends = NULL};
}

void roast__curve_put(struct roast_cumulative_curve *line, uint32_t number,
                      int64_t start_ns, int64_t duration_ns)
{
    int64_t end_ns = roast__sat_add(start_ns, duration_ns > 0 ? duration_ns : 1);

    line->ends[line->count++] = (struct roast_keyed){start_ns, 2 * number};
    line->ends[line->count++] = (struct roast_keyed){end_ns, 2 * number + 1};
}

bool roast__curve_sort(struct roast_cumulative_curve *line)
{
    size_t size_bytes = line->count * sizeof(line->ends[0]);

    roast__keyed_sort(line->ends, line->ends + line->count, line->count);
    struct roast_keyed *ends = roast__realloc(line->ends, size_bytes); /* no room */
    if (!ends)
        return false;
    line->ends = ends;
    line->knots = roast__realloc(NULL, line->count * sizeof(line->knots[0]));
    return line->knots != NULL;
}

double roast__curve_sum(struct roast_cumulative_curve *line, roast_rate_of *rate_of,
                        const void *context)
{
    double total = 0, rate = 0;
    size_t running = 0;

    for (size_t i = 0; i < line->count; i++) {
        const struct roast_keyed *end = &line->ends[i];
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
        line->knots[i] = (struct roast_knot){total, rate};
    }
    return total;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The total at a moment; *at walks along and stays at the last knot before it. */
static inline double total_at(const struct roast_cumulative_curve *line, size_t *at,
                              int64_t time_ns)
{
    if (time_ns <= line->ends[0].key)
        return 0;
    while (*at + 1 < line->count && line->ends[*at + 1].key <= time_ns)
        (*at)++;
    const struct roast_knot *knot = &line->knots[*at];
    return knot->total +
           knot->rate * (double)roast__time_between(line->ends[*at].key, time_ns);
}

/* Knots before the two ends of a window; they only walk forward. */
struct walkers {
    size_t ahead;
    size_t behind;
};

/* The most that lies in a window which begins or ends at a knot. */
static double most_at(const struct roast_cumulative_curve *line, size_t knot,
                      int64_t window_ns, struct walkers *walkers)
{
    int64_t time_ns = line->ends[knot].key;
    double here = line->knots[knot].total;
    double from_here =
        total_at(line, &walkers->ahead, roast__sat_add(time_ns, window_ns)) - here;
    double up_to_here =
        here - total_at(line, &walkers->behind, roast__sat_add(time_ns, -window_ns));

    return larger(from_here, up_to_here);
}

/* No window of these knots holds more than one from the first of them to the last. Moves
 * the walkers to where those of the next knots begin. */
static double most_among(const struct roast_cumulative_curve *line, size_t first,
                         size_t last, int64_t window_ns, struct walkers *walkers)
{
    int64_t low_ns = roast__sat_add(line->ends[first].key, -window_ns);
    int64_t high_ns = roast__sat_add(line->ends[last].key, window_ns);
    double ahead = total_at(line, &walkers->ahead, high_ns) - line->knots[first].total;
    double behind = line->knots[last].total - total_at(line, &walkers->behind, low_ns);

    return larger(ahead, behind);
}

/* Nearly all knots are left out: first every 16th one is looked at, then only those are
 * that could hold more than the best of these. */
double roast__best_window(const struct roast_cumulative_curve *line, int64_t window_ns)
{
    enum { STRIDE = 16 };
    struct walkers rough = {0, 0}, walkers = {0, 0};
    double best = 0;

    for (size_t i = 0; i < line->count; i += STRIDE)
        best = larger(best, most_at(line, i, window_ns, &rough));
    for (size_t first = 0; first < line->count; first += STRIDE) {
        size_t left = line->count - first;
        size_t end = first + (left < STRIDE ? left : STRIDE);
        struct walkers own = walkers;
        if (most_among(line, first, end - 1, window_ns, &walkers) <= best)
            continue;
        for (size_t i = first; i < end; i++)
            best = larger(best, most_at(line, i, window_ns, &own));
    }
    return best;
}
