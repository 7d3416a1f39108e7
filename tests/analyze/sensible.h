/* SPDX-License-Identifier: BSD-3-Clause */
/* sensible.h - what holds for every number of any summary: a finite value or a reason,
 * nothing below zero that cannot be, no part that is more than the whole. */
#ifndef ROAST_TESTS_ANALYZE_SENSIBLE_H
#define ROAST_TESTS_ANALYZE_SENSIBLE_H

#include "runs.h"

/* Memory may shrink during a chunk. */
static inline bool may_be_negative(enum roast_metric metric)
{
    return metric == ROAST_METRIC_chunk_mem_delta_mean_mb ||
           metric == ROAST_METRIC_chunk_mem_delta_min_mb ||
           metric == ROAST_METRIC_chunk_mem_delta_max_mb ||
           metric == ROAST_METRIC_memory_per_event_mean_bytes;
}

static inline bool is_part_of_a_whole(enum roast_metric metric)
{
    return metric == ROAST_METRIC_processor_cpu_percentage ||
           metric == ROAST_METRIC_processor_noncpu_percentage ||
           metric == ROAST_METRIC_avg_branches_read_percent ||
           metric == ROAST_METRIC_avg_bytes_read_percent ||
           metric == ROAST_METRIC_unexplained_percent ||
           metric == ROAST_METRIC_memory_utilization_max_percent;
}

static inline bool is_sensible(enum roast_metric metric, double value)
{
    bool whole = value == floor(value) || !roast_metric_info(metric)->is_count;

    return isfinite(value) && whole && (value >= 0 || may_be_negative(metric)) &&
           (value <= 100 || !is_part_of_a_whole(metric));
}

static inline void check_metrics_are_sensible(const roast_summary *summary)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    for (enum roast_metric i = 0; i < ROAST_METRIC_COUNT; i++) {
        const char *name = roast_metric_info(i)->name;
        if (values->known[i] && (values->why[i] || !is_sensible(i, values->value[i])))
            fail_msg("%s is %g", name, values->value[i]);
        if (!values->known[i] && (!values->why[i] || !values->why[i][0]))
            fail_msg("%s is not known, and does not say why", name);
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

/* Of a whole summary, and of a quick one; gives the whole one. */
static inline roast_summary *sensible_summary_of(roast_run *run)
{
    roast_summary *quick = NULL;
    roast_summary *summary = summary_of(run);

    check_metrics_are_sensible(summary);
    check_tables_are_finite(summary);
    assert_int_equal(roast_summarize_quick(&quick, run, NULL), ROAST_OK);
    check_metrics_are_sensible(quick);
    check_tables_are_finite(quick);
    roast_summary_free(quick);
    return summary;
}

#endif
