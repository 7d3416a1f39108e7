/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_sizes.c - percentiles of the events, bytes and memory of chunks. */
#include "analyze/formulas.h"
#include "analyze/quantiles.h"

/* A quantity of chunks with a record. */
struct quantity {
    enum roast_metric metrics[3]; /* 50, 90 and 99 % of the values are below */
    double unit;
    struct roast_moments range;
    struct roast_quantiles values;
};

static void add(struct quantity *quantity, double value)
{
    roast__moments_add(&quantity->range, &value, 1);
    roast__quantiles_add(&quantity->values, value);
}

/* A quantile from buckets may exceed the extremes by its error. */
static void set(const struct roast_summary_context *ctx, struct quantity *quantity)
{
    static const double shares[] = {0.5, 0.9, 0.99};

    for (int i = 0; i < 3 && quantity->range.count > 0; i++) {
        double value = roast__quantiles_get(&quantity->values, shares[i]);
        value = fmin(fmax(value, quantity->range.min), quantity->range.max);
        roast__context_set(ctx, quantity->metrics[i], value / quantity->unit);
        if (quantity->values.buckets)
            roast__metric_mark(&ctx->summary->values, quantity->metrics[i],
                               ROAST_ESTIMATED);
    }
    ctx->summary->failed |= quantity->values.failed;
    roast__quantiles_release(&quantity->values);
}

void roast__summarize_chunk_sizes(const struct roast_summary_context *ctx)
{
    const struct roast_column *columns = ctx->run->attempts.columns;
    struct quantity events = {.metrics = {ROAST_METRIC_chunk_events_p50,
                                          ROAST_METRIC_chunk_events_p90,
                                          ROAST_METRIC_chunk_events_p99},
                              .unit = 1};
    struct quantity bytes = {.metrics = {ROAST_METRIC_chunk_bytes_p50,
                                         ROAST_METRIC_chunk_bytes_p90,
                                         ROAST_METRIC_chunk_bytes_p99},
                             .unit = 1};
    struct quantity memory = {.metrics = {ROAST_METRIC_chunk_mem_peak_p50_mb,
                                          ROAST_METRIC_chunk_mem_peak_p90_mb,
                                          ROAST_METRIC_chunk_mem_peak_p99_mb},
                              .unit = 1024 * 1024};

    for (size_t row = 0; row < ctx->run->attempts.count; row++) {
        if (ctx->totals->roles.of_row[row] != ROAST_ROLE_COUNTS)
            continue;
        add(&events, roast__column_number(&columns[ROAST_COLUMN_num_events], row));
        add(&bytes, roast__column_number(&columns[ROAST_COLUMN_bytes_read], row) +
                        roast__column_number(&columns[ROAST_COLUMN_bytes_before], row));
        add(&memory, roast__column_number(&columns[ROAST_COLUMN_rss_peak_bytes], row));
    }
    set(ctx, &events);
    set(ctx, &bytes);
    set(ctx, &memory);
}
