/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.h - looks into the tables of a summary. */
#ifndef ROAST_TESTS_ANALYZE_CELLS_H
#define ROAST_TESTS_ANALYZE_CELLS_H

#include "roast/analyze.h"
#include "support.h"

static inline size_t column_of(const struct roast_table *table, const char *column)
{
    size_t i = 0;

    while (i < table->column_count && strcmp(table->columns[i], column) != 0)
        i++;
    if (i == table->column_count)
        fail_msg("%s has no column %s", table->name, column);
    return i;
}

static inline const struct roast_cell *cell_at(const roast_summary *summary,
                                               const char *name, size_t row,
                                               const char *column)
{
    const struct roast_table *table = roast_summary_table(summary, name);

    assert_non_null(table);
    if (row >= table->row_count)
        fail_msg("%s has %zu rows", name, table->row_count);
    return &table->cells[row * table->column_count + column_of(table, column)];
}

/* The row of a keyed table with this key; fails where there is none. */
static inline size_t row_of(const roast_summary *summary, const char *name,
                            const char *key)
{
    const struct roast_table *table = roast_summary_table(summary, name);

    assert_non_null(table);
    for (size_t i = 0; i < table->row_count; i++) {
        if (str_is(table->cells[i * table->column_count].text, key))
            return i;
    }
    fail_msg("%s has no row %s", name, key);
    return 0;
}

static inline double number_at(const roast_summary *summary, const char *name,
                               size_t row, const char *column)
{
    const struct roast_cell *cell = cell_at(summary, name, row, column);

    if (cell->type == ROAST_CELL_COUNT || cell->type == ROAST_CELL_BOOL)
        return (double)cell->count;
    if (cell->type != ROAST_CELL_NUMBER)
        fail_msg("%s[%zu].%s is no number", name, row, column);
    return cell->number;
}

static inline struct roast_str text_at(const roast_summary *summary, const char *name,
                                       size_t row, const char *column)
{
    return cell_at(summary, name, row, column)->text;
}

static inline size_t rows_of(const roast_summary *summary, const char *name)
{
    return roast_summary_table(summary, name)->row_count;
}

#endif
