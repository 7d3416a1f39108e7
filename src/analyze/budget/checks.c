/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - our numbers against those of others that measured the same.
 *
 * Dask has clocks of its own around every task, coffea counts events and bytes itself,
 * and joins and leaves of workers say what the budget must add up to. */
#include "analyze/budget/budget.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"

enum { NAME, OURS, THEIRS, SOURCE, DIFFERENCE_PERCENT, VERDICT, COLUMNS };

static const char *const columns[COLUMNS] = {
    [NAME] = "name",
    [OURS] = "ours",
    [THEIRS] = "theirs",
    [SOURCE] = "source",
    [DIFFERENCE_PERCENT] = "difference_percent",
    [VERDICT] = "verdict",
};

struct check {
    const char *name;
    double ours; /* NaN: not known */
    double theirs;
    const char *source;
    double most_percent; /* that agrees */
};

static double difference_percent(const struct check *check)
{
    if (check->ours == check->theirs)
        return 0;
    return check->theirs != 0 ? (check->ours - check->theirs) / check->theirs * 100
                              : NAN;
}

/* Sums of the same numbers in another order differ by their rounding. */
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

static void put(const struct roast_study *study, size_t table,
                const struct check *check)
{
    struct roast_summary *summary = study->summary;
    struct roast_cell *row = roast__table_row(summary, table);

    row[NAME] = roast__cell_text(summary, roast_str_of(check->name));
    row[OURS] = roast__cell_number(check->ours);
    row[THEIRS] = roast__cell_number(check->theirs);
    row[SOURCE] = roast__cell_text(summary, roast_str_of(check->source));
    row[DIFFERENCE_PERCENT] = roast__cell_number(difference_percent(check));
    row[VERDICT] = roast__cell_text(summary, roast_str_of(verdict_of(check)));
}

/* Where spans told nothing, the processor's seconds are our own. */
static struct check check_cpu(const struct roast_study *study)
{
    double ratio = roast__summary_metric(study->summary, ROAST_METRIC_dask_cpu_ratio);
    double theirs =
        roast__summary_metric(study->summary, ROAST_METRIC_processor_cpu_time_seconds);

    return (struct check){"cpu_seconds", ratio * theirs, isnan(ratio) ? NAN : theirs,
                          "Dask's thread-cpu of chunks", 2};
}

static struct check check_seconds(const struct roast_study *study)
{
    double theirs =
        roast__summary_metric(study->summary, ROAST_METRIC_processor_cpu_time_seconds) +
        roast__summary_metric(study->summary,
                              ROAST_METRIC_processor_noncpu_time_seconds);
    bool told =
        !isnan(roast__summary_metric(study->summary, ROAST_METRIC_dask_cpu_ratio));

    return (struct check){"chunk_seconds", roast__recorded_task_seconds(study),
                          told ? theirs : NAN, "Dask's spans of chunks", 2};
}

static double budget_sum(const struct roast_study *study)
{
    const struct roast_budget *budget = study->budget;
    double sum = 0;

    if (!budget || budget->schedule.shift_count == 0)
        return NAN;
    for (int i = 0; i < ROAST_SLICES; i++)
        sum += budget->total[i];
    return sum;
}

void roast__study_checks(const struct roast_study *study)
{
    size_t table =
        roast__table_open(study->summary, "checks", ROAST_TABLE_LIST, columns, COLUMNS);
    const struct check checks[] = {
        {"events", roast__recorded_events(&study->totals->all),
         roast__study_fact(study, ROAST_FACT_report_events), "coffea's report", 0},
        {"bytes", roast__recorded_bytes(&study->totals->all),
         roast__study_fact(study, ROAST_FACT_report_bytes), "coffea's report", 1},
        check_cpu(study),
        check_seconds(study),
        {"budget_seconds", budget_sum(study),
         roast__summary_metric(study->summary, ROAST_METRIC_offered_thread_seconds),
         "threads offered", 0.01},
    };

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        put(study, table, &checks[i]);
}
