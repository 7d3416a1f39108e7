/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c - applies all formulas to one run.
 *
 * The run is locked from the first to the last formula, so that all use the same state.
 * Metrics that are derived from others come last and take over their reasons. */
#include "analyze/summary.h"

#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/totals/task_kinds.h"
#include "base/mem.h"
#include "base/str.h"
#include "table/encode.h"

/* Quick formulas read columns only; the others decode every record. */
static const struct {
    void (*apply)(const struct roast_summary_context *ctx);
    bool quick;
} formulas[] = {
#define F(name, quick) {roast__summarize_##name, quick},
#include "analyze/formulas.def"
#undef F
};

/* ---- filling --------------------------------------------------------------------- */

roast_table *roast__summary_open(struct roast_summary *summary, enum roast_table_id id)
{
    if (!summary->tables[id])
        summary->tables[id] = roast__table_new(id, 0);
    summary->failed |= !summary->tables[id];
    return summary->tables[id];
}

void roast__summary_unavailable(struct roast_summary *summary, const char *name,
                                const char *why)
{
    roast_table *table = roast__summary_open(summary, ROAST_TABLE_unavailable);

    roast__table_row(table);
    roast__fill_string(table, ROAST_COL_unavailable_name, name);
    roast__fill_string(table, ROAST_COL_unavailable_why, why);
}

void roast__metric_set(struct roast_metric_values *values, enum roast_metric metric,
                       double value)
{
    if (!isfinite(value))
        return;
    values->known[metric] = true;
    values->value[metric] = value;
    values->why[metric] = NULL;
}

void roast__metric_mark(struct roast_metric_values *values, enum roast_metric metric,
                        enum roast_metric_kind kind)
{
    if (kind > roast_metric_kind(values, metric))
        values->kind[metric] = (unsigned char)kind;
}

double roast__summary_metric(const struct roast_summary *summary,
                             enum roast_metric metric)
{
    const struct roast_metric_values *values = &summary->values;

    return values->known[metric] ? values->value[metric] : NAN;
}

/* ---- all formulas ---------------------------------------------------------------- */

static int summarize_run(struct roast_summary *summary, struct roast_run *run,
                         struct roast_totals *totals, bool quick, roast_error *err)
{
    struct roast_summary_context ctx = {
        .run = run, .totals = totals, .summary = summary};
    bool has_tasks = run->scheduler.tasks.count > 0;

    roast__run_resolve_pending(run);
    ctx.end_ns = roast__run_end(run);
    int status = roast__compute_totals(totals, run, err);
    if (status < 0)
        return status;
    unsigned char *kinds = has_tasks ? roast__task_kinds(run) : NULL;
    ctx.task_kinds = kinds;
    summary->failed = has_tasks && !kinds;
    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
        if (summary->failed || (quick && !formulas[i].quick))
            continue;
        if (formulas[i].apply ==
            roast__summarize_budget) { /* late, because it takes much memory */
            ctx.budget = roast__budget_find(&ctx);
            summary->failed |= !ctx.budget;
        }
        if (!summary->failed)
            formulas[i].apply(&ctx);
    }
    if (!summary->failed)
        roast__reasons_fill(&ctx);
    roast_derive_rates(&summary->values);
    roast_derive_efficiency(&summary->values);
    roast__budget_free(ctx.budget);
    roast__free(kinds);
    if (summary->failed)
        return roast_error_set(err, ROAST_NO_MEMORY, "summary of %zu attempts",
                               run->attempts.count);
    for (int id = 0; id < ROAST_TABLE_COUNT && status == ROAST_OK; id++) {
        if (summary->tables[id])
            status = roast__table_finish(&summary->tables[id], err);
    }
    return status;
}

static int summarize(roast_summary **out, roast_run *run, bool quick, roast_error *err)
{
    struct roast_totals totals = {0};
    struct roast_summary *summary = roast__alloc(sizeof(*summary));
    int status = ROAST_OK;

    *out = NULL;
    if (!summary)
        return roast_error_set(err, ROAST_NO_MEMORY, "a summary of %zu bytes",
                               sizeof(*summary));
    roast__run_lock(run);
    status = summarize_run(summary, run, &totals, quick, err);
    roast__run_unlock(run);
    roast__totals_release(&totals);
    if (status == ROAST_OK) {
        *out = summary;
        summary = NULL; /* moved to the caller */
    }
    roast_summary_free(summary);
    return status;
}

int roast_summarize(roast_summary **out, roast_run *run, roast_error *err)
{
    return summarize(out, run, false, err);
}

int roast_summarize_quick(roast_summary **out, roast_run *run, roast_error *err)
{
    return summarize(out, run, true, err);
}

/* ---- reading --------------------------------------------------------------------- */

const struct roast_metric_values *roast_summary_metrics(const roast_summary *summary)
{
    return &summary->values;
}

const roast_table *roast_summary_table(const roast_summary *summary,
                                       enum roast_table_id id)
{
    return summary->tables[id];
}

void roast_summary_free(roast_summary *summary)
{
    if (!summary)
        return;
    roast__tables_release(summary->tables);
    roast__free(summary->reasons);
    roast__free(summary);
}

/* ---- as bytes -------------------------------------------------------------------- */

void roast__metrics_fill(roast_table *table, const struct roast_metric_values *values)
{
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        enum roast_metric metric = (enum roast_metric)i;
        const struct roast_metric_info *info = roast_metric_info(metric);
        roast__table_row(table);
        roast__fill_string(table, ROAST_COL_metrics_name, info->name);
        roast__fill_string(table, ROAST_COL_metrics_unit, info->unit);
        roast__fill_string(table, ROAST_COL_metrics_level, info->level);
        if (values->known[i]) {
            enum roast_metric_kind kind = roast_metric_kind(values, metric);
            roast__fill_number(table, ROAST_COL_metrics_value, values->value[i]);
            roast__fill_string(table, ROAST_COL_metrics_kind,
                               roast_metric_kind_name(kind));
        } else {
            roast__fill_string(table, ROAST_COL_metrics_reason, values->why[i]);
        }
    }
}

void roast__summary_encode(struct roast_buf *out, const struct roast_summary *summary)
{
    roast_tables tables;

    memcpy(tables, summary->tables, sizeof(tables));
    roast_table *metrics = roast__table_new(ROAST_TABLE_metrics, ROAST_METRIC_COUNT);
    roast__metrics_fill(metrics, &summary->values);
    if (roast__table_finish(&metrics, NULL) == ROAST_OK) {
        tables[ROAST_TABLE_metrics] = metrics;
        roast__tables_encode(out, tables);
    } else {
        out->failed = true;
    }
    roast_table_free(metrics);
}

static int metric_named(struct roast_str name)
{
    int metric = 0;

    while (metric < ROAST_METRIC_COUNT &&
           !roast__str_is(name, roast_metric_info((enum roast_metric)metric)->name))
        metric++;
    return metric;
}

/* An unknown kind of a later version counts as the least exact one. */
static enum roast_metric_kind kind_named(struct roast_str name)
{
    int kind = ROAST_EXACT;

    while (kind < ROAST_ESTIMATED &&
           !roast__str_is(name, roast_metric_kind_name((enum roast_metric_kind)kind)))
        kind++;
    return (enum roast_metric_kind)kind;
}

/* False when out of memory. */
static bool read_metrics(struct roast_summary *summary, const roast_table *table)
{
    struct roast_metric_values *values = &summary->values;
    size_t bytes = 0;

    for (size_t row = 0; row < roast_table_rows(table); row++)
        bytes += roast_table_text(table, row, ROAST_COL_metrics_reason).size_bytes + 1;
    char *at = summary->reasons = roast__alloc(bytes);
    for (size_t row = 0; at && row < roast_table_rows(table); row++) {
        struct roast_str why = roast_table_text(table, row, ROAST_COL_metrics_reason);
        double value = roast_table_number(table, row, ROAST_COL_metrics_value);
        int number = metric_named(roast_table_text(table, row, ROAST_COL_metrics_name));
        enum roast_metric metric = (enum roast_metric)number;
        if (number == ROAST_METRIC_COUNT)
            continue;
        if (!isnan(value)) {
            roast__metric_set(values, metric, value);
            roast__metric_mark(
                values, metric,
                kind_named(roast_table_text(table, row, ROAST_COL_metrics_kind)));
        } else if (why.size_bytes > 0) {
            values->why[metric] = memcpy(at, why.data, why.size_bytes);
            at[why.size_bytes] = '\0';
            at += why.size_bytes + 1;
        }
    }
    return at != NULL;
}

int roast__summary_decode(roast_summary **out, struct roast_str bytes, roast_error *err)
{
    struct roast_summary *summary = roast__alloc(sizeof(*summary));
    int status = ROAST_OK;

    *out = NULL;
    if (!summary)
        return roast_error_set(err, ROAST_NO_MEMORY, "a summary");
    status = roast__tables_decode(summary->tables, bytes, err);
    if (status == ROAST_OK &&
        !read_metrics(summary, summary->tables[ROAST_TABLE_metrics]))
        status = roast_error_set(err, ROAST_NO_MEMORY, "a summary");
    if (status == ROAST_OK) {
        *out = summary;
        summary = NULL; /* moved to the caller */
    }
    roast_summary_free(summary);
    return status;
}
