/* SPDX-License-Identifier: BSD-3-Clause */
/* chunks.c - the metrics of chunks and attempts, from the sums of totals.c.
 *
 * Wasted time and bytes are those of failed, repeated and lost attempts; a lost one lasted
 * until its process was last seen. */
#include "analyze/budget/last_seen.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

static const double mib = 1024.0 * 1024.0;

static void set_counts(const struct roast_summary_context *ctx)
{
    const struct roast_roles *roles = &ctx->totals->roles;

    if (ctx->run->attempts.count == 0)
        return;
    roast__context_set(ctx, ROAST_METRIC_num_attempts,
                       (double)ctx->run->attempts.count);
    roast__context_set(ctx, ROAST_METRIC_num_successful_chunks,
                       (double)roles->successful_chunks);
    roast__context_set(ctx, ROAST_METRIC_num_failed_chunks,
                       (double)roles->failed_chunks);
    roast__context_set(ctx, ROAST_METRIC_num_lost_chunks, (double)roles->lost_chunks);
    roast__context_set(ctx, ROAST_METRIC_num_cancelled_chunks,
                       (double)roles->cancelled_chunks);
    roast__context_set(ctx, ROAST_METRIC_num_running_chunks,
                       (double)roles->running_chunks);
    roast__context_set(ctx, ROAST_METRIC_num_failed_files, (double)roles->failed_files);
    roast__context_set(
        ctx, ROAST_METRIC_num_failed_or_lost,
        (double)(roles->failed_chunks + roles->lost_chunks + roles->failed_files));
    roast__context_set(ctx, ROAST_METRIC_num_retried_chunks,
                       (double)roles->retried_chunks);
    roast__context_set(ctx, ROAST_METRIC_num_failed_attempts,
                       (double)roles->rows[ROAST_ROLE_FAILED]);
    roast__context_set(ctx, ROAST_METRIC_num_lost_attempts,
                       (double)roles->rows[ROAST_ROLE_LOST]);
}

/* A quantile from buckets may exceed the extremes by its error. */
static double quantile_s(struct roast_totals *totals, double share)
{
    double ns = roast__quantiles_get(&totals->sums.durations_ns, share);

    return fmin(fmax(ns, totals->all.shortest_ns), totals->all.longest_ns) / 1e9;
}

static void set_quantile(const struct roast_summary_context *ctx,
                         enum roast_metric metric, const struct roast_quantiles *source,
                         double value)
{
    roast__context_set(ctx, metric, value);
    if (source->buckets)
        roast__metric_mark(&ctx->summary->values, metric, ROAST_ESTIMATED);
}

static void set_durations(const struct roast_summary_context *ctx)
{
    struct roast_totals *totals = ctx->totals;
    const struct roast_moments *duration = &totals->sums.duration_ns;

    if (duration->count == 0)
        return;
    roast__context_set(ctx, ROAST_METRIC_chunk_duration_mean,
                       roast__moments_mean(duration) / 1e9);
    roast__context_set(ctx, ROAST_METRIC_chunk_duration_min,
                       totals->all.shortest_ns / 1e9);
    roast__context_set(ctx, ROAST_METRIC_chunk_duration_max,
                       totals->all.longest_ns / 1e9);
    roast__context_set(ctx, ROAST_METRIC_chunk_duration_std,
                       roast__moments_std(duration) / 1e9);
    set_quantile(ctx, ROAST_METRIC_chunk_duration_p50, &totals->sums.durations_ns,
                 quantile_s(totals, 0.5));
    set_quantile(ctx, ROAST_METRIC_chunk_duration_p90, &totals->sums.durations_ns,
                 quantile_s(totals, 0.9));
    set_quantile(ctx, ROAST_METRIC_chunk_duration_p99, &totals->sums.durations_ns,
                 quantile_s(totals, 0.99));
}

static void set_memory(const struct roast_summary_context *ctx)
{
    const struct roast_totals *totals = ctx->totals;
    const struct roast_moments *delta = &totals->sums.memory_delta_bytes;

    if (delta->count > 0) {
        roast__context_set(ctx, ROAST_METRIC_chunk_mem_delta_mean_mb,
                           roast__moments_mean(delta) / mib);
        roast__context_set(ctx, ROAST_METRIC_chunk_mem_delta_min_mb, delta->min / mib);
        roast__context_set(ctx, ROAST_METRIC_chunk_mem_delta_max_mb, delta->max / mib);
        roast__context_set(ctx, ROAST_METRIC_chunk_mem_delta_std_mb,
                           roast__moments_std(delta) / mib);
    }
    if (totals->sums.memory_peak_bytes >= 0)
        roast__context_set(ctx, ROAST_METRIC_chunk_mem_peak_max_mb,
                           (double)totals->sums.memory_peak_bytes / mib);
    if (totals->sums.delta_events > 0)
        roast__context_set(ctx, ROAST_METRIC_memory_per_event_mean_bytes,
                           totals->sums.paired_delta_bytes / totals->sums.delta_events);
}

static void set_events(const struct roast_summary_context *ctx)
{
    struct roast_totals *totals = ctx->totals;
    const struct roast_group *all = &totals->all;
    struct roast_quantiles *per_event = &totals->sums.ns_per_event;
    double known = (double)(all->chunks - all->without[ROAST_EVENTS]);
    double events = all->sums[ROAST_EVENTS];

    if (!(known > 0))
        return;
    roast__context_set(ctx, ROAST_METRIC_chunk_events_mean, events / known);
    roast__context_set(ctx, ROAST_METRIC_chunk_events_min, totals->sums.events.min);
    roast__context_set(ctx, ROAST_METRIC_chunk_events_max, totals->sums.events.max);
    roast__context_set(ctx, ROAST_METRIC_total_events_from_chunks, events);
    if (totals->sums.paired_events > 0)
        roast__context_set(ctx, ROAST_METRIC_time_per_event_mean_us,
                           totals->sums.paired_duration_ns /
                               totals->sums.paired_events / 1e3);
    set_quantile(ctx, ROAST_METRIC_time_per_event_p50_us, per_event,
                 roast__quantiles_get(per_event, 0.5) / 1e3);
    set_quantile(ctx, ROAST_METRIC_time_per_event_p99_us, per_event,
                 roast__quantiles_get(per_event, 0.99) / 1e3);
}

/* The total only if it is known for all chunks. */
static void set_outputs(const struct roast_summary_context *ctx)
{
    const struct roast_group *all = &ctx->totals->all;
    const struct roast_moments *bytes = &ctx->totals->sums.output_bytes;

    if (bytes->count == 0)
        return;
    roast__context_set(ctx, ROAST_METRIC_output_bytes_mean, roast__moments_mean(bytes));
    roast__context_set(ctx, ROAST_METRIC_output_bytes_max, bytes->max);
    if (all->without[ROAST_OUTPUT] == 0 && all->bare == 0)
        roast__context_set(ctx, ROAST_METRIC_output_bytes_total,
                           all->sums[ROAST_OUTPUT]);
}

/* ---- waste ----------------------------------------------------------------------- */

double roast__attempt_seconds(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;
    int64_t ns = roast__column_get(&columns[ROAST_COLUMN_task_ns], row, -1);

    if (ns < 0)
        ns = roast__column_get(&columns[ROAST_COLUMN_duration_ns], row, -1);
    return ns < 0 ? NAN : (double)ns / 1e9;
}

/* What is known of the bytes of an attempt; NaN: nothing. */
static double bytes_of(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;
    double inside = roast__column_number(&columns[ROAST_COLUMN_bytes_read], row);
    double before = roast__column_number(&columns[ROAST_COLUMN_bytes_before], row);

    return isnan(inside) ? before : isnan(before) ? inside : inside + before;
}

static void set_wasted(const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_roles *roles = &ctx->totals->roles;
    uint64_t lost = roles->rows[ROAST_ROLE_LOST];
    uint64_t wasted =
        lost + roles->rows[ROAST_ROLE_FAILED] + roles->rows[ROAST_ROLE_REPEAT];
    uint64_t with_bytes = 0;
    int64_t *last_seen = lost > 0 ? roast__last_seen(ctx->run) : NULL;
    double seconds = 0, bytes = 0;

    if (lost > 0 && !last_seen) {
        ctx->summary->failed = true;
        return;
    }
    for (size_t row = 0; wasted > 0 && row < attempts->count; row++) {
        unsigned role = roles->of_row[row];
        if (role != ROAST_ROLE_FAILED && role != ROAST_ROLE_REPEAT &&
            role != ROAST_ROLE_LOST)
            continue;
        double own_s = role == ROAST_ROLE_LOST
                           ? roast__lost_seconds(attempts, row, last_seen)
                           : roast__attempt_seconds(attempts, row);
        double own_bytes = bytes_of(attempts, row);
        seconds += isnan(own_s) ? 0 : own_s;
        bytes += isnan(own_bytes) ? 0 : own_bytes;
        with_bytes += isnan(own_bytes) ? 0 : 1;
    }
    if (attempts->count > 0)
        roast__context_set(ctx, ROAST_METRIC_wasted_thread_seconds, seconds);
    if (attempts->count > 0 && (wasted == 0 || with_bytes > 0))
        roast__context_set(ctx, ROAST_METRIC_wasted_bytes, bytes);
    if (lost > 0) /* their end was not recorded */
        roast__metric_mark(&ctx->summary->values, ROAST_METRIC_wasted_thread_seconds,
                           ROAST_ESTIMATED);
    if (with_bytes < wasted)
        roast__metric_mark(&ctx->summary->values, ROAST_METRIC_wasted_bytes,
                           ROAST_ESTIMATED);
    roast__free(last_seen);
}

void roast__summarize_chunks(const struct roast_summary_context *ctx)
{
    set_counts(ctx);
    set_durations(ctx);
    set_memory(ctx);
    set_events(ctx);
    set_outputs(ctx);
    set_wasted(ctx);
}
