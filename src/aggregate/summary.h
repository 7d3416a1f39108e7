/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.h - the inside of a summary, and how the formulas fill it.
 *
 * Failure is sticky, as in base/buf.h: once out of memory, rows go nowhere and texts
 * are absent, and whoever drives the formulas checks once. */
#ifndef ROAST_AGGREGATE_SUMMARY_H
#define ROAST_AGGREGATE_SUMMARY_H

#include <math.h>

#include "aggregate/totals.h"
#include "roast/aggregate.h"
#include "store/run.h"

enum { ROAST_MAX_TABLES = 16, ROAST_MAX_COLUMNS = 32 };

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
    struct roast_summary *summary;
};

/* Opens a table; its number is for roast__table_row(). Columns are static. */
size_t roast__table_open(struct roast_summary *summary, const char *name,
                         enum roast_table_shape shape, const char *const *columns,
                         size_t column_count);

/* The cells of a new row, all absent; valid until the next row. Never NULL. */
struct roast_cell *roast__table_row(struct roast_summary *summary, size_t table);

/* A table of one row whose columns are only known now; names are static. Without any
 * column it has no row. */
void roast__table_single(struct roast_summary *summary, const char *name,
                         const char *const *columns, const uint64_t *counts,
                         size_t count);

static inline struct roast_cell roast__cell_count(uint64_t count)
{
    return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = count};
}

static inline struct roast_cell roast__cell_bool(bool flag)
{
    return (struct roast_cell){.type = ROAST_CELL_BOOL, .count = flag};
}

/* Absent for what is no number. */
struct roast_cell roast__cell_number(double number);
struct roast_cell roast__cell_text(struct roast_summary *summary,
                                   struct roast_str text);

/* Sets a metric; what is no finite number stays absent. */
void roast__metric_set(struct roast_metric_values *values, enum roast_metric metric,
                       double value);

#endif
