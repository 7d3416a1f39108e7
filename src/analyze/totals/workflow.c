/* SPDX-License-Identifier: BSD-3-Clause */
/* workflow.c - metrics of the whole run: time, events, bytes, chunks, CPU.
 *
 * Values of coffea's report take precedence, because users compare with them; our own
 * records are used otherwise. A sum over chunks is known only if all chunks have the
 * value. */
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"

/* The first known value. */
static double either(double a, double b)
{
    return isnan(a) ? b : a;
}

/* Of coffea's report, unless a call has none: it would leave out the chunks of that call,
 * which all other counts have. */
static double reported(const struct roast_run *run, double report, double recorded)
{
    return roast__run_returned(run) == ROAST_RETURNED_NOTHING
               ? either(recorded, report)
               : either(report, recorded);
}

/* A sum over the chunks; NaN if some of them have no value. */
static double complete(const struct roast_group *all, uint32_t without, double sum)
{
    return all->chunks > 0 && without == 0 && all->bare == 0 ? sum : NAN;
}

double roast__recorded_events(const struct roast_group *all)
{
    bool known = all->without[ROAST_EVENTS] == 0 && all->bare_unknown == 0 &&
                 all->chunks + all->bare > 0;

    return known ? all->sums[ROAST_EVENTS] + all->bare_events : NAN;
}

double roast__recorded_bytes(const struct roast_group *all)
{
    return complete(all, all->without[ROAST_BYTES], all->sums[ROAST_BYTES]);
}

void roast__summarize_workflow(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    const struct roast_group *all = &ctx->totals->all;
    const struct roast_roles *roles = &ctx->totals->roles;

    if (run->end_ns != 0 || ctx->end_ns > run->start_ns)
        roast__context_set(ctx, ROAST_METRIC_wall_time,
                           roast__seconds_between(run->start_ns, ctx->end_ns));
    double events =
        reported(run,
                 either(roast__context_fact(ctx, ROAST_FACT_report_events),
                        roast__context_fact(ctx, ROAST_FACT_processed_events)),
                 roast__recorded_events(all));
    double bytes = reported(run, roast__context_fact(ctx, ROAST_FACT_report_bytes),
                            roast__recorded_bytes(all));
    /* attempts include skipped chunks, unlike coffea's processed ones */
    double recorded = fmax(roast__context_fact(ctx, ROAST_FACT_processed_chunks),
                           roles->chunks > 0 ? (double)roles->chunks : NAN);
    double chunks =
        either(roast__context_fact(ctx, ROAST_FACT_report_chunks), recorded);
    if (roles->chunks > 0)
        roast__context_set(ctx, ROAST_METRIC_num_chunks_processed,
                           (double)roles->successful_chunks);
    roast__context_set(ctx, ROAST_METRIC_total_events, events);
    roast__context_set(ctx, ROAST_METRIC_total_bytes_read, bytes);
    roast__context_set(ctx, ROAST_METRIC_num_chunks, chunks);
    double process_s = complete(all, all->without[ROAST_DURATION_NS],
                                all->sums[ROAST_DURATION_NS] / 1e9);
    double report_s = roast__context_fact(ctx, ROAST_FACT_report_process_seconds);
    roast__context_set(ctx, ROAST_METRIC_total_cpu_time,
                       reported(run, report_s, process_s));
    roast__context_set(ctx, ROAST_METRIC_recorded_process_seconds, process_s);
    roast__context_set(
        ctx, ROAST_METRIC_cpu_seconds,
        complete(all, all->without[ROAST_CPU_NS], all->sums[ROAST_CPU_NS] / 1e9));
    if (run->attempts.columns[ROAST_COLUMN_task_ns].known > 0)
        roast__context_set(ctx, ROAST_METRIC_task_seconds,
                           ctx->totals->sums.task_ns / 1e9);
    roast__context_set(ctx, ROAST_METRIC_tree_cpu_seconds,
                       roast__context_fact(ctx, ROAST_FACT_own_cpu_seconds) +
                           roast__context_fact(ctx, ROAST_FACT_children_cpu_seconds));
    /* coffea reports the planned chunks, but the seconds are of the successful ones. */
    const struct roast_metric_values *values = &ctx->summary->values;
    if (!run->fact_known[ROAST_FACT_report_chunks] && roles->successful_chunks > 0 &&
        values->known[ROAST_METRIC_total_cpu_time])
        roast__context_set(ctx, ROAST_METRIC_avg_cpu_time_per_chunk,
                           values->value[ROAST_METRIC_total_cpu_time] /
                               (double)roles->successful_chunks);
    /* Without a count from the Runner, its begin marks give the number of calls. */
    double marks = (double)roast__calls_count(run);
    roast__context_set(ctx, ROAST_METRIC_runner_calls,
                       either(roast__context_fact(ctx, ROAST_FACT_runner_calls),
                              marks > 0 ? marks : NAN));
    roast__context_set(ctx, ROAST_METRIC_runner_failures,
                       roast__context_fact(ctx, ROAST_FACT_runner_failures));
}
