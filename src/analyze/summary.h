/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.h - the inside of a summary, and how the formulas fill it.
 *
 * Failure is sticky, as in base/buf.h: once out of memory, rows go nowhere and texts
 * are absent, and whoever drives the formulas checks once. */
#ifndef ROAST_ANALYZE_SUMMARY_H
#define ROAST_ANALYZE_SUMMARY_H

#include <math.h>

#include "analyze/tables/tables.h"
#include "analyze/totals/totals.h"
#include "roast/analyze.h"
#include "run/run.h"

enum { ROAST_MAX_TABLES = 48, ROAST_MAX_COLUMNS = 32 };

/* The room of a table. */
struct roast_sheet {
    struct roast_cell *cells; /* owned */
    const char **columns;     /* owned where they are not static */
    size_t cap;               /* rows */
};

struct roast_summary {
    struct roast_metric_values values;
    struct roast_table tables[ROAST_MAX_TABLES];
    struct roast_sheet sheets[ROAST_MAX_TABLES];
    size_t table_count;
    struct roast_text_block *texts; /* owned; what cells point to */
    struct roast_cell spare[ROAST_MAX_COLUMNS];
    bool failed; /* out of memory */
};

/* What all formulas look at. The run is locked. */
struct roast_study {
    const struct roast_run *run;
    int64_t end_ns;              /* of the run, or the latest moment that was seen */
    struct roast_totals *totals; /* reading a quantile may sort */
    const unsigned char *task_kinds; /* roast__task_kinds(); NULL: there are no tasks */
    struct roast_budget *budget;     /* NULL: only what is quick is asked, or not yet */
    struct roast_summary *summary;
};

/* Sets a metric; what is no finite number stays absent. */
void roast__metric_set(struct roast_metric_values *values, enum roast_metric metric,
                       double value);

/* NaN: not known. */
double roast__summary_metric(const struct roast_summary *summary,
                             enum roast_metric metric);

/* The metric is no better than this: its source was not the best. */
void roast__metric_mark(struct roast_metric_values *values, enum roast_metric metric,
                        enum roast_metric_kind kind);

#endif
