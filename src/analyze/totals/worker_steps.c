/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_steps.c - how many workers and threads there were over time.
 *
 * Offers are exact and integrate as steps; sampled counts follow the seeds' trapezoid.
 * Every piece of time is read once for each sum. */
#include "analyze/totals/worker_steps.h"

#include "analyze/timeline.h"
#include "roast/analyze.h"

bool roast_time_average(const struct roast_point *points, size_t count, double *mean)
{
    double area = 0, span = 0;

    for (size_t i = 1; i < count; i++) {
        double seconds =
            roast__seconds_between(points[i - 1].time_ns, points[i].time_ns);
        area += (points[i - 1].value + points[i].value) / 2 * seconds;
        span += seconds;
    }
    if (span <= 0)
        return false;
    *mean = area / span;
    return true;
}

/* ---- offers ---------------------------------------------------------------------- */

/* How long an offer held within [start, end]. */
static double held_seconds(const struct roast_offer *offers, size_t count, size_t i,
                           const int64_t span[2])
{
    int64_t from = i == 0 ? span[0] : offers[i].time_ns;
    int64_t to = i + 1 == count ? span[1] : offers[i + 1].time_ns;

    return roast__seconds_between(roast__time_clamp(from, span[0], span[1]),
                                  roast__time_clamp(to, span[0], span[1]));
}

static void add_offer(struct roast_pool *pool, const struct roast_offer *offer,
                      double seconds)
{
    double workers = (double)offer->workers, threads = (double)offer->threads;

    pool->span_seconds += seconds;
    pool->worker_seconds += workers * seconds;
    pool->thread_seconds += threads * seconds;
    if (offer->workers > 0) {
        pool->staffed_seconds += seconds;
        pool->ratio_seconds += threads / workers * seconds;
    }
    if (workers < ROAST_NEAR_PEAK * pool->peak_workers)
        pool->below_peak_seconds += seconds;
}

void roast__pool_of_offers(struct roast_pool *pool, const struct roast_offer *offers,
                           size_t count, int64_t start_ns, int64_t end_ns)
{
    const int64_t span[2] = {start_ns, end_ns};

    *pool = (struct roast_pool){0};
    for (size_t i = 0; i < count; i++) {
        if ((double)offers[i].workers > pool->peak_workers)
            pool->peak_workers = (double)offers[i].workers;
    }
    for (size_t i = 0; i < count; i++)
        add_offer(pool, &offers[i], held_seconds(offers, count, i, span));
}

/* ---- counts ---------------------------------------------------------------------- */

/* The part of a straight line from a to b that lies below a limit. */
static double share_below(double a, double b, double limit)
{
    double low = a < b ? a : b, high = a < b ? b : a;

    if (limit <= low)
        return 0;
    return limit > high ? 1 : (limit - low) / (high - low);
}

void roast__pool_of_counts(struct roast_pool *pool, const struct roast_count *counts,
                           size_t count)
{
    *pool = (struct roast_pool){0};
    for (size_t i = 0; i < count; i++) {
        if ((double)counts[i].workers > pool->peak_workers)
            pool->peak_workers = (double)counts[i].workers;
    }
    for (size_t i = 1; i < count; i++) {
        double from = (double)counts[i - 1].workers, to = (double)counts[i].workers;
        double seconds =
            roast__seconds_between(counts[i - 1].time_ns, counts[i].time_ns);
        pool->span_seconds += seconds;
        pool->worker_seconds += (from + to) / 2 * seconds;
        pool->below_peak_seconds +=
            share_below(from, to, ROAST_NEAR_PEAK * pool->peak_workers) * seconds;
    }
}
