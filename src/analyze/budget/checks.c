/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - compares our numbers with independent measurements of the same.
 *
 * Dask measures every task with its own clocks, coffea counts events and bytes, and the
 * joins and leaves of workers give the sum of the budget. */
#include "analyze/budget/budget.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"

struct check {
    const char *name;
    double ours; /* NaN: not known */
    double theirs;
    const char *source;
    double most_percent; /* up to this difference the values agree */
};

static double difference_percent(const struct check *check)
{
    if (check->ours == check->theirs)
        return 0;
    return check->theirs != 0 ? (check->ours - check->theirs) / check->theirs * 100
                              : NAN;
}

/* Sums in different order differ by rounding. */
static const double rounding_percent = 1e-7;

static const char *verdict_of(const struct check *check)
{
    double distance = fabs(difference_percent(check));

    if (isnan(check->ours) || isnan(check->theirs))
        return "absent";
    if (distance <= rounding_percent)
        return "exact";
    return distance <= check->most_percent ? "agrees" : "differs";
}

/* Without spans, the metric holds our own measurement: there is nothing to compare. */
static struct check check_cpu(const struct roast_summary_context *ctx)
{
    double ratio = roast__summary_metric(ctx->summary, ROAST_METRIC_dask_cpu_ratio);
    double theirs =
        roast__summary_metric(ctx->summary, ROAST_METRIC_processor_cpu_time_seconds);

    return (struct check){"cpu_seconds", ratio * theirs, isnan(ratio) ? NAN : theirs,
                          "Dask's thread-cpu of chunks", 2};
}

static struct check check_seconds(const struct roast_summary_context *ctx)
{
    double theirs =
        roast__summary_metric(ctx->summary, ROAST_METRIC_processor_cpu_time_seconds) +
        roast__summary_metric(ctx->summary, ROAST_METRIC_processor_noncpu_time_seconds);
    bool has_spans =
        !isnan(roast__summary_metric(ctx->summary, ROAST_METRIC_dask_cpu_ratio));

    return (struct check){"chunk_seconds", roast__recorded_task_seconds(ctx),
                          has_spans ? theirs : NAN, "Dask's spans of chunks", 2};
}

static double budget_sum(const struct roast_summary_context *ctx)
{
    const struct roast_budget *budget = ctx->budget;
    double sum = 0;

    if (!budget || budget->schedule.shift_count == 0)
        return NAN;
    for (int i = 0; i < ROAST_SLICES; i++)
        sum += budget->total[i];
    return sum;
}

/* Of processes, by the table `hosts`; where the versions on both sides are known. */
static struct check check_versions(const struct roast_summary_context *ctx)
{
    const roast_table *hosts = ctx->summary->tables[ROAST_TABLE_hosts];
    bool is_known = roast__notes_get(&ctx->run->notes, ROAST_NOTES_provenance,
                                     roast_str_of("version.roastcoffea"))
                        .data != NULL;
    double all = 0, same = 0;

    for (size_t row = 0; is_known && row < roast_table_rows(hosts); row++) {
        double processes = roast_table_number(hosts, row, ROAST_COL_hosts_processes);
        if (!roast_table_known(hosts, row, ROAST_COL_hosts_roastcoffea))
            continue;
        all += processes;
        if (!roast_table_known(hosts, row, ROAST_COL_hosts_differs))
            same += processes;
    }
    return (struct check){"versions", all > 0 ? same : NAN, all, "processes", 0};
}

void roast__summarize_checks(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_checks);
    const struct check checks[] = {
        {"events", roast__recorded_events(&ctx->totals->all),
         roast__context_fact(ctx, ROAST_FACT_report_events), "coffea's report", 0},
        {"bytes", roast__recorded_bytes(&ctx->totals->all),
         roast__context_fact(ctx, ROAST_FACT_report_bytes), "coffea's report", 1},
        check_cpu(ctx),
        check_seconds(ctx),
        {"budget_seconds", budget_sum(ctx),
         roast__summary_metric(ctx->summary, ROAST_METRIC_offered_thread_seconds),
         "threads offered", 0.01},
        check_versions(ctx),
    };

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        roast__table_row(table);
        roast__fill_string(table, ROAST_COL_checks_name, checks[i].name);
        roast__fill_number(table, ROAST_COL_checks_ours, checks[i].ours);
        roast__fill_number(table, ROAST_COL_checks_theirs, checks[i].theirs);
        roast__fill_string(table, ROAST_COL_checks_source, checks[i].source);
        roast__fill_number(table, ROAST_COL_checks_difference_percent,
                           difference_percent(&checks[i]));
        roast__fill_string(table, ROAST_COL_checks_verdict, verdict_of(&checks[i]));
    }
}
