/* SPDX-License-Identifier: BSD-3-Clause */
/* rates.c - the best rates of events and bytes over 10, 60 and 300 seconds.
 *
 * The run must be as long as the window: a short run that did much at once would
 * otherwise show a rate that never occurred. */
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/best_rate.h"

enum { WINDOWS = 3 };

static const int64_t window_s[WINDOWS] = {10, 60, 300};
static const enum roast_metric event_rates[WINDOWS] = {
    ROAST_METRIC_event_rate_khz_best_10s,
    ROAST_METRIC_event_rate_khz_best_60s,
    ROAST_METRIC_event_rate_khz_best_300s,
};
static const enum roast_metric data_rates[WINDOWS] = {
    ROAST_METRIC_data_rate_gbps_best_10s,
    ROAST_METRIC_data_rate_gbps_best_60s,
    ROAST_METRIC_data_rate_gbps_best_300s,
};

/* What an attempt did per ns; not negative. */
static double rate_of(const struct roast_attempts *attempts, uint32_t row, double did)
{
    int64_t ns = attempts->columns[ROAST_COLUMN_duration_ns].values[row];

    return did > 0 ? did / (double)(ns > 0 ? ns : 1) : 0;
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
static bool draw_line(struct roast_cumulative_curve *line,
                      const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_column *starts = &attempts->columns[ROAST_COLUMN_start_ns];
    const struct roast_column *lengths = &attempts->columns[ROAST_COLUMN_duration_ns];

    if (!roast__curve_reserve(line, ctx->totals->all.chunks))
        return false;
    for (uint32_t row = 0; row < attempts->count; row++) {
        if (ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
            roast__column_has(starts, row) && roast__column_has(lengths, row))
            roast__curve_put(line, row, starts->values[row], lengths->values[row]);
    }
    return roast__curve_sort(line);
}

static void set_rates(const struct roast_summary_context *ctx,
                      struct roast_cumulative_curve *line, roast_rate_of *rate,
                      double scale, const enum roast_metric *metrics)
{
    double run_s = roast__seconds_between(ctx->run->start_ns, ctx->end_ns);

    if (!(roast__curve_sum(line, rate, &ctx->run->attempts) > 0))
        return;
    for (size_t i = 0; i < WINDOWS; i++) {
        double seconds = (double)window_s[i];
        if (run_s >= seconds)
            roast__context_set(ctx, metrics[i],
                               roast__best_window(line, window_s[i] * 1000000000) /
                                   seconds * scale);
    }
}

/* A rate is that of the run only if every chunk knows its part. */
void roast__summarize_best_rates(const struct roast_summary_context *ctx)
{
    const struct roast_group *all = &ctx->totals->all;
    double run_s = roast__seconds_between(ctx->run->start_ns, ctx->end_ns);
    struct roast_cumulative_curve line = {0};

    if (all->chunks == 0 || run_s < (double)window_s[0])
        return;
    bool drawn = draw_line(&line, ctx);
    ctx->summary->failed |= !drawn;
    if (drawn && all->without[ROAST_EVENTS] == 0)
        set_rates(ctx, &line, event_rate_of, 1e-3, event_rates);
    if (drawn && all->without[ROAST_BYTES] == 0)
        set_rates(ctx, &line, data_rate_of, 8e-9, data_rates);
    roast__curve_release(&line);
}
