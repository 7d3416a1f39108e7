/* SPDX-License-Identifier: BSD-3-Clause */
/* rates.c - the best rates of events and bytes over 10, 60 and 300 seconds.
 *
 * The run must be at least as long as the interval: the rate of a short run would
 * otherwise be one that never occurred. */
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/best_rate.h"

enum { INTERVALS = 3 };

static const int64_t interval_s[INTERVALS] = {10, 60, 300};
static const enum roast_metric event_rates[INTERVALS] = {
    ROAST_METRIC_event_rate_khz_best_10s,
    ROAST_METRIC_event_rate_khz_best_60s,
    ROAST_METRIC_event_rate_khz_best_300s,
};
static const enum roast_metric data_rates[INTERVALS] = {
    ROAST_METRIC_data_rate_gbps_best_10s,
    ROAST_METRIC_data_rate_gbps_best_60s,
    ROAST_METRIC_data_rate_gbps_best_300s,
};

/* An amount per ns of the attempt; not negative. */
static double rate_of(const struct roast_attempts *attempts, uint32_t row,
                      double amount)
{
    int64_t ns = attempts->columns[ROAST_COLUMN_duration_ns].values[row];

    return amount > 0 ? amount / (double)(ns > 0 ? ns : 1) : 0;
}

static double event_rate_of(const void *context, uint32_t row)
{
    const struct roast_attempts *attempts = context;

    return rate_of(attempts, row,
                   (double)attempts->columns[ROAST_COLUMN_num_events].values[row]);
}

static double data_rate_of(const void *context, uint32_t row)
{
    const struct roast_attempts *attempts = context;
    const struct roast_column *columns = attempts->columns;

    return rate_of(attempts, row,
                   (double)columns[ROAST_COLUMN_bytes_read].values[row] +
                       (double)columns[ROAST_COLUMN_bytes_before].values[row]);
}

/* False when out of memory. */
static bool make_curve(struct roast_cumulative_curve *curve,
                       const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_column *starts = &attempts->columns[ROAST_COLUMN_start_ns];
    const struct roast_column *lengths = &attempts->columns[ROAST_COLUMN_duration_ns];

    if (!roast__curve_reserve(curve, ctx->totals->all.chunks))
        return false;
    for (uint32_t row = 0; row < attempts->count; row++) {
        if (ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
            roast__column_has(starts, row) && roast__column_has(lengths, row))
            roast__curve_put(curve, row, starts->values[row], lengths->values[row]);
    }
    return roast__curve_sort(curve);
}

static void set_rates(const struct roast_summary_context *ctx,
                      struct roast_cumulative_curve *curve, roast_rate_of *rate,
                      double scale, const enum roast_metric *metrics)
{
    double run_s = roast__seconds_between(ctx->run->start_ns, ctx->end_ns);

    if (!(roast__curve_sum(curve, rate, &ctx->run->attempts) > 0))
        return;
    for (size_t i = 0; i < INTERVALS; i++) {
        double seconds = (double)interval_s[i];
        if (run_s >= seconds)
            roast__context_set(ctx, metrics[i],
                               roast__best_interval(curve, interval_s[i] * 1000000000) /
                                   seconds * scale);
    }
}

/* A rate is known only if every chunk has the amount. */
void roast__summarize_best_rates(const struct roast_summary_context *ctx)
{
    const struct roast_group *all = &ctx->totals->all;
    double run_s = roast__seconds_between(ctx->run->start_ns, ctx->end_ns);
    struct roast_cumulative_curve curve = {0};

    if (all->chunks == 0 || run_s < (double)interval_s[0])
        return;
    bool made = make_curve(&curve, ctx);
    ctx->summary->failed |= !made;
    if (made && all->without[ROAST_EVENTS] == 0)
        set_rates(ctx, &curve, event_rate_of, 1e-3, event_rates);
    if (made && all->without[ROAST_BYTES] == 0)
        set_rates(ctx, &curve, data_rate_of, 8e-9, data_rates);
    roast__curve_release(&curve);
}
