/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.h - the inside of a summary, and how the formulas fill it.
 *
 * Failure is sticky, as in base/buf.h and table/table.h: the caller of the formulas
 * checks once. */
#ifndef ROAST_ANALYZE_SUMMARY_H
#define ROAST_ANALYZE_SUMMARY_H

#include <math.h>

#include "analyze/totals/totals.h"
#include "roast/analyze.h"
#include "run/run.h"
#include "table/table.h"

struct roast_summary {
    struct roast_metric_values values;
    roast_tables tables; /* owned */
    char *reasons;       /* owned; what values.why points to, unless static */
    bool failed;         /* out of memory */
};

/* The input of all formulas. The run is locked. */
struct roast_summary_context {
    const struct roast_run *run;
    int64_t end_ns;              /* of the run, or the latest moment that was seen */
    struct roast_totals *totals; /* reading a quantile may sort */
    const unsigned char *task_kinds; /* roast__task_kinds(); NULL: there are no tasks */
    struct roast_budget *budget;     /* NULL: a quick summary, or not yet */
    struct roast_summary *summary;
};

/* Begins a table of the summary, to be filled; NULL when out of memory. Borrowed. */
roast_table *roast__summary_open(struct roast_summary *summary, enum roast_table_id id);

/* Adds to `unavailable`: a part of a table is missing. */
void roast__summary_miss(struct roast_summary *summary, const char *name,
                         const char *why);

/* A summary as bytes, and back: what the first screen of a saved run is made of. The
 * metrics are the table `metrics`. Failure of the first is the buffer's. The bytes may
 * be hostile. */
void roast__summary_encode(struct roast_buf *out, const struct roast_summary *summary);
int roast__summary_decode(roast_summary **out, struct roast_str bytes,
                          roast_error *err);

/* Fills the table `metrics`, and reads values from it. */
void roast__metrics_fill(roast_table *table, const struct roast_metric_values *values);

/* Fills the table `losses`; NULL: the counts are not known. */
void roast__losses_fill(roast_table *table, const uint64_t *of_run,
                        const uint64_t *of_records);

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
