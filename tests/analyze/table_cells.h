/* SPDX-License-Identifier: BSD-3-Clause */
/* table_cells.h - looks into the tables of a run, by the names of columns. */
#ifndef ROAST_TESTS_ANALYZE_TABLE_CELLS_H
#define ROAST_TESTS_ANALYZE_TABLE_CELLS_H

#include "roast/analyze.h"
#include "support.h"

static inline roast_table *table_of(roast_run *run, enum roast_table_id table)
{
    roast_table *columns = NULL;

    assert_int_equal(roast_run_table(&columns, table, run, NULL, NULL), ROAST_OK);
    return columns;
}

/* NULL: there is no such column. */
static inline const struct roast_table_column *column_named(const roast_table *table,
                                                            const char *name)
{
    for (size_t i = 0; i < roast_table_width(table); i++) {
        if (strcmp(roast_table_column(table, i)->name, name) == 0)
            return roast_table_column(table, i);
    }
    return NULL;
}

static inline struct roast_cell value_at(const roast_table *columns, const char *column,
                                         size_t row)
{
    const struct roast_table_column *data = column_named(columns, column);

    assert_non_null(data);
    if (row >= roast_table_rows(columns))
        fail_msg("%zu rows", roast_table_rows(columns));
    return roast_column_cell(data, row);
}

static inline bool is_unknown(const roast_table *columns, const char *column,
                              size_t row)
{
    return value_at(columns, column, row).type == ROAST_CELL_ABSENT;
}

static inline double number_in(const roast_table *columns, const char *column,
                               size_t row)
{
    struct roast_cell cell = value_at(columns, column, row);

    if (cell.type == ROAST_CELL_COUNT || cell.type == ROAST_CELL_BOOL)
        return (double)cell.count;
    if (cell.type != ROAST_CELL_NUMBER)
        fail_msg("%s of row %zu is no number", column, row);
    return cell.number;
}

static inline struct roast_str text_in(const roast_table *columns, const char *column,
                                       size_t row)
{
    struct roast_cell cell = value_at(columns, column, row);

    assert_int_equal(cell.type, ROAST_CELL_TEXT);
    return cell.text;
}

/* The first row whose column has this text; fails where there is none. */
static inline size_t row_with(const roast_table *columns, const char *column,
                              const char *text)
{
    size_t row = 0;

    while (row < roast_table_rows(columns) &&
           !str_is(value_at(columns, column, row).text, text))
        row++;
    if (row == roast_table_rows(columns))
        fail_msg("no row with %s = %s", column, text);
    return row;
}

#endif
