/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.h - looks into the tables of a summary as users see them: by name, with times
 * in seconds. */
#ifndef ROAST_TESTS_ANALYZE_CELLS_H
#define ROAST_TESTS_ANALYZE_CELLS_H

#include "analyze/tables_named.h"

static inline struct roast_cell cell_at(const roast_summary *summary, const char *name,
                                        size_t row, const char *column)
{
    const roast_table *table = table_named(summary, name);
    int64_t time_ns;

    assert_non_null(table);
    if (row >= roast_table_rows(table))
        fail_msg("%s has %zu rows", name, roast_table_rows(table));
    int col = col_of(table, column);
    const struct roast_table_column *data =
        roast_table_column(table, (size_t)(col - (int)roast_table_col(table, 0)));
    if (data->type == ROAST_DTYPE_TIME && roast_table_int(&time_ns, table, row, col))
        return (struct roast_cell){.type = ROAST_CELL_NUMBER,
                                   .number = roast_epoch_seconds(time_ns)};
    return roast_column_cell(data, row);
}

/* The row of a keyed table with this key; fails where there is none. */
static inline size_t row_of(const roast_summary *summary, const char *name,
                            const char *key)
{
    const roast_table *table = table_named(summary, name);

    assert_non_null(table);
    for (size_t i = 0; i < roast_table_rows(table); i++) {
        if (str_is(roast_table_text(table, i, roast_table_col(table, 0)), key))
            return i;
    }
    fail_msg("%s has no row %s", name, key);
    return 0;
}

static inline double number_at(const roast_summary *summary, const char *name,
                               size_t row, const char *column)
{
    struct roast_cell cell = cell_at(summary, name, row, column);

    if (cell.type == ROAST_CELL_COUNT || cell.type == ROAST_CELL_BOOL)
        return (double)cell.count;
    if (cell.type != ROAST_CELL_NUMBER)
        fail_msg("%s[%zu].%s is no number", name, row, column);
    return cell.number;
}

/* Of a list, the texts joined by ", ". */
static inline struct roast_str text_at(const roast_summary *summary, const char *name,
                                       size_t row, const char *column)
{
    struct roast_cell cell = cell_at(summary, name, row, column);

    return cell.type == ROAST_CELL_TEXT ? cell.text : (struct roast_str){NULL, 0};
}

static inline size_t rows_of(const roast_summary *summary, const char *name)
{
    return roast_table_rows(table_named(summary, name));
}

#endif
