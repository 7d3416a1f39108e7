/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.h - the content of a summary, and how the formulas fill it.
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
    int64_t end_ns;                  /* of the run, or the latest recorded time */
    struct roast_totals *totals;     /* reading a quantile may sort */
    const unsigned char *task_kinds; /* roast__task_kinds(); NULL: there are no tasks */
    struct roast_budget *budget; /* NULL in a quick summary, and before it is made */
    struct roast_summary *summary;
};

/* Begins a table of the summary, to be filled; NULL when out of memory. Borrowed. */
roast_table *roast__summary_open(struct roast_summary *summary, enum roast_table_id id);

/* Adds a row to the table `unavailable`: why a table or a part of it is missing. */
void roast__summary_unavailable(struct roast_summary *summary, const char *name,
                                const char *why);

/* A summary as bytes, and back; the first screen of a saved run is made from it. The
 * metrics are encoded as the table `metrics`. Encoding fails with the buffer. The bytes
 * may be hostile. */
void roast__summary_encode(struct roast_buf *out, const struct roast_summary *summary);
int roast__summary_decode(roast_summary **out, struct roast_str bytes,
                          roast_error *err);

/* Fills the table `metrics`. */
void roast__metrics_fill(roast_table *table, const struct roast_metric_values *values);

/* Fills the table `losses`; NULL: the counts are not known. */
void roast__losses_fill(roast_table *table, const uint64_t *of_run,
                        const uint64_t *of_records);

/* Sets a metric; nothing if the value is not finite. */
void roast__metric_set(struct roast_metric_values *values, enum roast_metric metric,
                       double value);

/* NaN: not known. */
double roast__summary_metric(const struct roast_summary *summary,
                             enum roast_metric metric);

/* Lowers the kind of a metric: its source was sampled or estimated. */
void roast__metric_mark(struct roast_metric_values *values, enum roast_metric metric,
                        enum roast_metric_kind kind);

#endif
