/* SPDX-License-Identifier: BSD-3-Clause */
/* budget_checks.h - asserts on the budget of a summary: slices, and that all views have the same sum. */
#ifndef ROAST_TESTS_ANALYZE_BUDGET_CHECKS_H
#define ROAST_TESTS_ANALYZE_BUDGET_CHECKS_H

#include "cluster.h"

struct slice {
    const char *name;
    double seconds;
};

/* These slices, and 0 s in all others. */
#define SLICES(...) ((const struct slice[]){__VA_ARGS__})
#define assert_budget(summary, ...) \
    check_budget((summary), SLICES(__VA_ARGS__), \
                 sizeof(SLICES(__VA_ARGS__)) / sizeof(struct slice), __FILE__, \
                 __LINE__)

/* The sum of a column; nothing in it is negative. */
static inline double column_sum(const roast_summary *summary, const char *table,
                                const char *column)
{
    double sum = 0;

    for (size_t row = 0; row < rows_of(summary, table); row++) {
        double seconds = number_at(summary, table, row, column);
        assert_true(seconds >= 0);
        sum += seconds;
    }
    return sum;
}

/* True for every budget. */
static inline void check_closed(const roast_summary *summary, const char *file,
                                int line)
{
    static const char *const views[] = {"budget_by_phase", "budget_over_time",
                                        "budget_by_worker", "budget_by_host"};
    const roast_table *budget = roast_summary_table(summary, ROAST_TABLE_budget);
    double sum = 0;

    for (size_t i = 0; i < roast_table_width(budget); i++) {
        const char *name = roast_table_column(budget, i)->name;
        double seconds = column_sum(summary, "budget", name);
        sum += seconds;
        for (size_t view = 0; view < sizeof(views) / sizeof(views[0]); view++)
            check_near(column_sum(summary, views[view], name), seconds, file, line);
        assert_true(column_sum(summary, "budget_by_dataset", name) <=
                    seconds * (1 + 1e-9) + 1e-9);
    }
    check_metric(summary, ROAST_METRIC_offered_thread_seconds, sum, file, line);
    if (rows_of(summary, "critical_path") > 0)
        check_metric(summary, ROAST_METRIC_wall_time,
                     column_sum(summary, "critical_path", "waited") +
                         column_sum(summary, "critical_path", "seconds"),
                     file, line);
}

static inline void check_budget(const roast_summary *summary,
                                const struct slice *slices, size_t count,
                                const char *file, int line)
{
    const roast_table *budget = roast_summary_table(summary, ROAST_TABLE_budget);

    for (size_t i = 0; i < roast_table_width(budget); i++) {
        const char *name = roast_table_column(budget, i)->name;
        double expected = 0;
        for (size_t at = 0; at < count; at++)
            expected += strcmp(slices[at].name, name) == 0 ? slices[at].seconds : 0;
        double seconds = number_at(summary, "budget", 0, name);
        if (fabs(seconds - expected) > 1e-9) {
            print_error("%s: %.17g s, not %.17g\n", roast_table_column(budget, i)->name,
                        seconds, expected);
            _fail(file, line);
        }
    }
    for (size_t at = 0; at < count; at++)
        (void)col_of(budget, slices[at].name); /* no slice is misspelled */
    check_closed(summary, file, line);
}

#endif
