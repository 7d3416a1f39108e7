/* SPDX-License-Identifier: BSD-3-Clause */
/* runtimes.c - how the times of chunks are distributed, and whether events explain them.
 *
 * Chunks with more events take longer; if they do not, something else determines the
 * time. Per event, times and memory of chunks of the same code vary little. */
#include "analyze/formulas.h"
#include "analyze/linear_fit.h"

enum { MOST_BINS = 30, FEWEST_CHUNKS = 3 };

struct runtimes {
    struct roast_moments ns_per_event;
    struct roast_moments bytes_per_event;
    struct roast_linear_fit fit; /* duration over events */
    size_t bins;
    double shortest_ns;
    double bin_ns; /* 0: all are equal */
    uint64_t chunks[MOST_BINS];
};

static void add_chunk(struct runtimes *sums, const struct roast_column *columns,
                      size_t row)
{
    double ns = roast__column_number(&columns[ROAST_COLUMN_duration_ns], row);
    double events = roast__column_number(&columns[ROAST_COLUMN_num_events], row);
    double bytes = roast__column_number(&columns[ROAST_COLUMN_rss_after_bytes], row) -
                   roast__column_number(&columns[ROAST_COLUMN_rss_before_bytes], row);

    if (!isnan(ns)) {
        double bin = sums->bin_ns > 0 ? (ns - sums->shortest_ns) / sums->bin_ns : 0;
        sums->chunks[(size_t)fmin(bin, (double)(sums->bins - 1))]++;
    }
    if (!(events > 0))
        return;
    double ns_each = ns / events, bytes_each = bytes / events;
    roast__moments_add(&sums->ns_per_event, &ns_each, 1);
    roast__moments_add(&sums->bytes_per_event, &bytes_each, 1);
    if (!isnan(ns))
        roast__fit_add(&sums->fit, events, ns);
}

static void put_histogram(const struct roast_summary_context *ctx,
                          const struct runtimes *sums)
{
    roast_table *table =
        roast__summary_open(ctx->summary, ROAST_TABLE_runtime_histogram);

    for (size_t i = 0; i < sums->bins; i++) {
        double from_ns = sums->shortest_ns + sums->bin_ns * (double)i;
        roast__table_row(table);
        roast__fill_number(table, ROAST_COL_runtime_histogram_from, from_ns / 1e9);
        roast__fill_number(table, ROAST_COL_runtime_histogram_to,
                           (from_ns + sums->bin_ns) / 1e9);
        roast__fill_count(table, ROAST_COL_runtime_histogram_chunks, sums->chunks[i]);
    }
}

static void set_spread(const struct roast_summary_context *ctx,
                       const struct roast_moments *values, enum roast_metric std,
                       enum roast_metric variation, double scale)
{
    double mean = roast__moments_mean(values), spread = roast__moments_std(values);

    roast__context_set(ctx, std, spread * scale);
    if (mean > 0)
        roast__context_set(ctx, variation, spread / mean);
}

void roast__summarize_runtimes(const struct roast_summary_context *ctx)
{
    const struct roast_group *all = &ctx->totals->all;
    const struct roast_attempts *attempts = &ctx->run->attempts;
    double timed = (double)(all->chunks - all->without[ROAST_DURATION_NS]);
    struct runtimes sums = {.shortest_ns = all->shortest_ns};

    if (timed > 0)
        sums.bins = (size_t)fmin(ceil(sqrt(timed)), MOST_BINS);
    if (sums.bins > 0 && all->longest_ns == all->shortest_ns)
        sums.bins = 1;
    if (sums.bins > 0)
        sums.bin_ns = (all->longest_ns - all->shortest_ns) / (double)sums.bins;
    for (size_t row = 0; row < attempts->count; row++) {
        if (ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS)
            add_chunk(&sums, attempts->columns, row);
    }
    put_histogram(ctx, &sums);
    set_spread(ctx, &sums.ns_per_event, ROAST_METRIC_time_per_event_std_us,
               ROAST_METRIC_time_per_event_variation, 1e-3);
    set_spread(ctx, &sums.bytes_per_event, ROAST_METRIC_memory_per_event_std_bytes,
               ROAST_METRIC_memory_per_event_variation, 1);
    const struct roast_linear_fit *fit = &sums.fit;
    if (fit->count >= FEWEST_CHUNKS && fit->xx > 0 && fit->yy > 0)
        roast__context_set(ctx, ROAST_METRIC_runtime_events_correlation,
                           copysign(sqrt(fmin(1, roast__fit_r2(fit))), fit->xy));
}
