/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.h - the tables of a summary while they are filled: rows, cells, texts.
 *
 * Nothing here fails: out of memory is noted in the summary (summary.h). */
#ifndef ROAST_ANALYZE_TABLES_TABLES_H
#define ROAST_ANALYZE_TABLES_TABLES_H

#include "roast/analyze.h"

struct roast_summary;

/* Opens a table; its number is for roast__table_row(). Columns are static. */
size_t roast__table_open(struct roast_summary *summary, const char *name,
                         enum roast_table_shape shape, const char *const *columns,
                         size_t column_count);

/* Makes room for so many rows at once, and no more than that. */
void roast__table_reserve(struct roast_summary *summary, size_t table, size_t rows);

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

/* A count that was summed up as a double; absent for what no count can hold. */
struct roast_cell roast__cell_sum(double sum);

/* Absent for what is no number. */
struct roast_cell roast__cell_number(double number);
struct roast_cell roast__cell_text(struct roast_summary *summary,
                                   struct roast_str text);

/* A list of absent cells, to be filled through *items; out of memory: an empty one. */
struct roast_cell roast__cell_list(struct roast_summary *summary,
                                   struct roast_cell **items, size_t count);

/* Memory that lives as long as the summary, for what is aligned to a power of two; NULL
 * when out of memory. */
void *roast__summary_memory(struct roast_summary *summary, size_t bytes,
                            size_t aligned);

/* A cell by the name of its column; absent where there is none. NULL: no table. */
const struct roast_cell *roast__table_cell(const struct roast_table *table, size_t row,
                                           const char *column);
/* The same as a number; NaN: it is none. */
double roast__table_number(const struct roast_table *table, size_t row,
                           const char *column);
/* Rows that have this text in a column. */
size_t roast__table_count(const struct roast_table *table, const char *column,
                          const char *text);

/* Says why a part of a table is missing; `why` is static. */
void roast__summary_miss(struct roast_summary *summary, const char *name,
                         const char *why);

#endif
