/* SPDX-License-Identifier: BSD-3-Clause */
/* invariants.h - checks that hold for any summary: every metric has a finite value or a
 * reason, is in its range, and no share is above 100 %. */
#ifndef ROAST_TESTS_ANALYZE_INVARIANTS_H
#define ROAST_TESTS_ANALYZE_INVARIANTS_H

#include "runs.h"

/* Memory may shrink during a chunk. */
static inline bool may_be_negative(enum roast_metric metric)
{
    return metric == ROAST_METRIC_chunk_mem_delta_mean_mb ||
           metric == ROAST_METRIC_chunk_mem_delta_min_mb ||
           metric == ROAST_METRIC_chunk_mem_delta_max_mb ||
           metric == ROAST_METRIC_memory_per_event_mean_bytes;
}

static inline bool is_share(enum roast_metric metric)
{
    return metric == ROAST_METRIC_processor_cpu_percentage ||
           metric == ROAST_METRIC_processor_noncpu_percentage ||
           metric == ROAST_METRIC_avg_branches_read_percent ||
           metric == ROAST_METRIC_avg_bytes_read_percent ||
           metric == ROAST_METRIC_unexplained_percent ||
           metric == ROAST_METRIC_memory_utilization_max_percent;
}

static inline bool is_valid(enum roast_metric metric, double value)
{
    bool is_integer = value == floor(value) || !roast_metric_info(metric)->is_count;

    return isfinite(value) && is_integer && (value >= 0 || may_be_negative(metric)) &&
           (value <= 100 || !is_share(metric));
}

static inline void check_metrics(const roast_summary *summary)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    for (enum roast_metric i = 0; i < ROAST_METRIC_COUNT; i++) {
        const char *name = roast_metric_info(i)->name;
        if (values->known[i] && (values->why[i] || !is_valid(i, values->value[i])))
            fail_msg("%s is %g", name, values->value[i]);
        if (!values->known[i] && (!values->why[i] || !values->why[i][0]))
            fail_msg("%s is not known, and has no reason", name);
    }
}

static inline void check_tables_are_finite(const roast_summary *summary)
{
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        const roast_table *table =
            roast_summary_table(summary, (enum roast_table_id)id);
        for (size_t i = 0; i < roast_table_width(table); i++) {
            const struct roast_table_column *column = roast_table_column(table, i);
            for (size_t row = 0; row < roast_table_rows(table); row++) {
                struct roast_cell cell = roast_column_cell(column, row);
                if (cell.type == ROAST_CELL_NUMBER && !isfinite(cell.number))
                    fail_msg("table %d, %s", id, column->name);
            }
        }
    }
}

/* Checks a full and a quick summary; returns the full one. */
static inline roast_summary *checked_summary_of(roast_run *run)
{
    roast_summary *quick = NULL;
    roast_summary *summary = summary_of(run);

    check_metrics(summary);
    check_tables_are_finite(summary);
    assert_int_equal(roast_summarize_quick(&quick, run, NULL), ROAST_OK);
    check_metrics(quick);
    check_tables_are_finite(quick);
    roast_summary_free(quick);
    return summary;
}

#endif
