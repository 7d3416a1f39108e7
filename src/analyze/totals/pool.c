/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - the number of workers and threads over the run.
 *
 * An offer of an executor is valid until the next one, and the first one also before it.
 * A backend that only samples the number of its workers is integrated by trapezoids, as
 * in 0.1.2, with the threads that workers report as `cores`. */
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/sweep.h"
#include "roast/analyze.h"
#include "run/timelines.h"

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

static double ratio(double above, double below)
{
    return below > 0 ? above / below : NAN;
}

/* ---- offers ---------------------------------------------------------------------- */

struct mean {
    const struct roast_run *run;
    double sum;
    double count;
};

static void add_time(void *context, int64_t time_ns)
{
    struct mean *mean = context;

    mean->sum += (double)roast__run_offer_at(mean->run, time_ns)->workers;
    mean->count++;
}

/* The mean over all sample times; over the offers if there are no samples. While there
 * was no worker to take a sample of, there is a sample of 0 per interval. */
static double mean_at_samples(const struct roast_summary_context *ctx, double empty_s)
{
    struct mean mean = {.run = ctx->run};
    double interval_s = roast__sampling_interval(ctx->run);

    if (!roast__sweep_times(&ctx->run->samples, add_time, &mean))
        ctx->summary->failed = true;
    if (mean.count > 0 && interval_s > 0)
        mean.count += floor(empty_s / interval_s);
    if (mean.count == 0) {
        for (size_t i = 0; i < ctx->run->offer_count; i++)
            add_time(&mean, ctx->run->offers[i].time_ns);
    }
    return ratio(mean.sum, mean.count);
}

static void set_from_offers(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    double span_s = 0, worker_s = 0, thread_s = 0, below_peak_s = 0;
    double with_workers_s = 0,
           ratio_s = 0; /* time with workers; integral of threads per worker */
    double peak = 0;

    for (size_t i = 0; i < run->offer_count; i++)
        peak = fmax(peak, (double)run->offers[i].workers);
    for (size_t i = 0; i < run->offer_count; i++) {
        const struct roast_offer *offer = &run->offers[i];
        double workers = (double)offer->workers, threads = (double)offer->threads;
        int64_t from_ns = i == 0 ? run->start_ns : offer->time_ns;
        int64_t to_ns = i + 1 == run->offer_count ? ctx->end_ns : offer[1].time_ns;
        double seconds = roast__seconds_between(
            roast__time_clamp(from_ns, run->start_ns, ctx->end_ns),
            roast__time_clamp(to_ns, run->start_ns, ctx->end_ns));
        span_s += seconds;
        worker_s += workers * seconds;
        thread_s += threads * seconds;
        if (offer->workers > 0) {
            with_workers_s += seconds;
            ratio_s += threads / workers * seconds;
        }
        if (workers < ROAST_NEAR_PEAK * peak)
            below_peak_s += seconds;
    }
    roast__context_set(ctx, ROAST_METRIC_time_avg_workers, ratio(worker_s, span_s));
    roast__context_set(ctx, ROAST_METRIC_avg_workers_simple,
                       mean_at_samples(ctx, span_s - with_workers_s));
    roast__context_set(ctx, ROAST_METRIC_peak_workers, peak);
    roast__context_set(ctx, ROAST_METRIC_below_peak_seconds, below_peak_s);
    roast__context_set(ctx, ROAST_METRIC_cores_per_worker,
                       ratio(ratio_s, with_workers_s));
    roast__context_set(ctx, ROAST_METRIC_total_cores, ratio(thread_s, span_s));
    roast__context_set(ctx, ROAST_METRIC_offered_thread_seconds, thread_s);
}

/* ---- counts ---------------------------------------------------------------------- */

/* The share of a straight line from a to b below a limit. */
static double share_below(double a, double b, double limit)
{
    double low = a < b ? a : b, high = a < b ? b : a;

    if (limit <= low)
        return 0;
    return limit > high ? 1 : (limit - low) / (high - low);
}

/* Joins and leaves between two counts are not known. */
static void mark_sampled(const struct roast_summary_context *ctx)
{
    static const enum roast_metric metrics[] = {
        ROAST_METRIC_time_avg_workers,   ROAST_METRIC_peak_workers,
        ROAST_METRIC_below_peak_seconds, ROAST_METRIC_cores_per_worker,
        ROAST_METRIC_total_cores,        ROAST_METRIC_offered_thread_seconds,
    };

    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        roast__metric_mark(&ctx->summary->values, metrics[i], ROAST_SAMPLED);
}

static void set_from_counts(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    const struct roast_count *counts = run->counts;
    double run_s = roast__seconds_between(run->start_ns, ctx->end_ns);
    double peak = 0, counted = 0, span_s = 0, worker_s = 0, below_peak_s = 0;

    for (size_t i = 0; i < run->count_count; i++) {
        peak = fmax(peak, (double)counts[i].workers);
        counted += (double)counts[i].workers;
    }
    double simple = ratio(counted, (double)run->count_count);
    for (size_t i = 1; i < run->count_count; i++) {
        double from = (double)counts[i - 1].workers, to = (double)counts[i].workers;
        double seconds =
            roast__seconds_between(counts[i - 1].time_ns, counts[i].time_ns);
        span_s += seconds;
        worker_s += (from + to) / 2 * seconds;
        below_peak_s += share_below(from, to, ROAST_NEAR_PEAK * peak) * seconds;
    }
    double sum = 0, count = 0;
    for (size_t i = 0; i < run->samples.count; i++) {
        struct roast_series_cursor cursor;
        uint64_t repeated;
        double value;
        if (roast__series_of(&run->samples.workers[i], ROAST_SERIES_cores)
                ->changes.size_bytes == 0)
            continue;
        roast__series_open(&cursor, &run->samples.workers[i], ROAST_SERIES_cores);
        while ((repeated = roast__series_run(&cursor, &value)) > 0) {
            sum += isnan(value) ? 0 : value * (double)repeated;
            count += isnan(value) ? 0 : (double)repeated;
        }
    }
    double cores = ratio(sum, count);
    double workers = span_s > 0 ? worker_s / span_s : simple; /* a single count */
    roast__context_set(ctx, ROAST_METRIC_time_avg_workers, workers);
    roast__context_set(ctx, ROAST_METRIC_avg_workers_simple, simple);
    roast__context_set(ctx, ROAST_METRIC_peak_workers, peak);
    roast__context_set(ctx, ROAST_METRIC_below_peak_seconds, below_peak_s);
    roast__context_set(ctx, ROAST_METRIC_cores_per_worker, cores);
    roast__context_set(ctx, ROAST_METRIC_total_cores, workers * cores);
    roast__context_set(ctx, ROAST_METRIC_offered_thread_seconds,
                       workers * cores * run_s);
    mark_sampled(ctx);
}

void roast__summarize_pool(const struct roast_summary_context *ctx)
{
    if (ctx->run->offer_count > 0)
        set_from_offers(ctx);
    else if (ctx->run->count_count > 0)
        set_from_counts(ctx);
}
