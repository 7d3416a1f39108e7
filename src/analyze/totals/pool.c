/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - the number of workers and threads over the run.
 *
 * Executors on this machine report what they offer: steps. A backend that only counts its
 * workers now and then gives samples: the seeds' trapezoid, and threads from what its
 * workers report as `cores`. */
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/sweep.h"
#include "analyze/totals/worker_steps.h"

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

static void add_moment(void *context, int64_t time_ns)
{
    struct mean *mean = context;

    mean->sum += (double)roast__run_offer_at(mean->run, time_ns)->workers;
    mean->count++;
}

/* The mean over the moments at which anything was sampled; over the offers where
 * nothing was. */
static double mean_at_samples(const struct roast_study *study)
{
    struct mean mean = {.run = study->run};

    if (!roast__sweep_moments(&study->run->samples, add_moment, &mean))
        study->summary->failed = true;
    if (mean.count == 0) {
        for (size_t i = 0; i < study->run->offer_count; i++)
            add_moment(&mean, study->run->offers[i].time_ns);
    }
    return ratio(mean.sum, mean.count);
}

/* ---- counts ---------------------------------------------------------------------- */

static double mean_count(const struct roast_run *run)
{
    double sum = 0;

    for (size_t i = 0; i < run->count_count; i++)
        sum += (double)run->counts[i].workers;
    return ratio(sum, (double)run->count_count);
}

/* Who came and went between two counts is not known. */
static void mark_sampled(const struct roast_study *study)
{
    static const enum roast_metric metrics[] = {
        ROAST_METRIC_time_avg_workers,   ROAST_METRIC_peak_workers,
        ROAST_METRIC_below_peak_seconds, ROAST_METRIC_cores_per_worker,
        ROAST_METRIC_total_cores,        ROAST_METRIC_offered_thread_seconds,
    };

    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        roast__metric_mark(&study->summary->values, metrics[i], ROAST_SAMPLED);
}

static void set_from_counts(const struct roast_study *study)
{
    const struct roast_run *run = study->run;
    double simple = mean_count(run);
    /* The mean of all samples of a series, NaN without any. */
    double sum = 0, count = 0;
    for (size_t i = 0; i < run->samples.count; i++) {
        struct roast_series_cursor cursor;
        uint64_t alike;
        double value;
        if (roast__series_of(&run->samples.workers[i], ROAST_SERIES_cores)
                ->changes.size_bytes == 0)
            continue;
        roast__series_open(&cursor, &run->samples.workers[i], ROAST_SERIES_cores);
        while ((alike = roast__series_run(&cursor, &value)) > 0) {
            sum += isnan(value) ? 0 : value * (double)alike;
            count += isnan(value) ? 0 : (double)alike;
        }
    }
    double cores = ratio(sum, count);
    double run_s = roast__seconds_between(run->start_ns, study->end_ns);
    struct roast_pool pool;

    roast__pool_of_counts(&pool, run->counts, run->count_count);
    double workers = pool.span_seconds > 0 ? pool.worker_seconds / pool.span_seconds
                                           : simple; /* one sample is all we have */
    roast__study_set(study, ROAST_METRIC_time_avg_workers, workers);
    roast__study_set(study, ROAST_METRIC_avg_workers_simple, simple);
    roast__study_set(study, ROAST_METRIC_peak_workers, pool.peak_workers);
    roast__study_set(study, ROAST_METRIC_below_peak_seconds, pool.below_peak_seconds);
    roast__study_set(study, ROAST_METRIC_cores_per_worker, cores);
    roast__study_set(study, ROAST_METRIC_total_cores, workers * cores);
    roast__study_set(study, ROAST_METRIC_offered_thread_seconds,
                     workers * cores * run_s);
    mark_sampled(study);
}

void roast__study_pool(const struct roast_study *study)
{
    if (study->run->offer_count > 0) {
        const struct roast_run *run = study->run;
        struct roast_pool pool;
        roast__pool_of_offers(&pool, run->offers, run->offer_count, run->start_ns,
                              study->end_ns);
        roast__study_set(study, ROAST_METRIC_time_avg_workers,
                         ratio(pool.worker_seconds, pool.span_seconds));
        roast__study_set(study, ROAST_METRIC_avg_workers_simple,
                         mean_at_samples(study));
        roast__study_set(study, ROAST_METRIC_peak_workers, pool.peak_workers);
        roast__study_set(study, ROAST_METRIC_below_peak_seconds,
                         pool.below_peak_seconds);
        roast__study_set(study, ROAST_METRIC_cores_per_worker,
                         ratio(pool.ratio_seconds, pool.staffed_seconds));
        roast__study_set(study, ROAST_METRIC_total_cores,
                         ratio(pool.thread_seconds, pool.span_seconds));
        roast__study_set(study, ROAST_METRIC_offered_thread_seconds,
                         pool.thread_seconds);
    } else if (study->run->count_count > 0) {
        set_from_counts(study);
    }
}
