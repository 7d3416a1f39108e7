/* SPDX-License-Identifier: BSD-3-Clause */
/* tables_by_hand.h - tables of cells that a test lists, for pages. */
#ifndef ROAST_TESTS_REPORT_TABLES_BY_HAND_H
#define ROAST_TESTS_REPORT_TABLES_BY_HAND_H

#include "cells_by_hand.h"
#include "page_checks.h"
#include "table/table.h"

/* The number of a column of a table; fails where there is none. */
static inline size_t column_number(enum roast_table_id id, const char *name)
{
    for (size_t i = 0; i < roast__table_listed(id); i++) {
        if (strcmp(roast__table_info(id, i).name, name) == 0)
            return i;
    }
    fail_msg("%s has no column %s", roast_table_name(id), name);
    return 0;
}

/* A table by hand: cells row by row, in columns that a test names. */
struct hand_table {
    const char *name; /* of tables.def */
    const char *const *columns;
    size_t column_count;
    const struct roast_cell *cells;
    size_t row_count;
};

#define TABLE(label, names, values) \
    { \
        .name = (label), .columns = (names), .column_count = COUNT_OF(names), \
        .cells = (values), .row_count = COUNT_OF(values) / COUNT_OF(names) \
    }

static inline void fill_cell(roast_table *table, int col, enum roast_dtype type,
                             const struct roast_cell *cell)
{
    if (cell->type == ROAST_CELL_ABSENT ||
        (cell->type == ROAST_CELL_TEXT) != (type == ROAST_DTYPE_TEXT))
        return;
    if (type == ROAST_DTYPE_TEXT)
        roast__fill_text(table, col, cell->text);
    else if (type == ROAST_DTYPE_BOOL)
        roast__fill_bool(table, col, cell->count != 0);
    else if (type == ROAST_DTYPE_DOUBLE)
        roast__fill_number(table, col,
                           cell->type == ROAST_CELL_NUMBER ? cell->number
                                                           : (double)cell->count);
    else if (cell->type == ROAST_CELL_NUMBER)
        roast__fill_sum(table, col, cell->number);
    else
        roast__fill_count(table, col, cell->count);
}

/* Adds tables to the input of a page. They are freed at the end of the program. */
static inline void show_tables(struct roast_page_input *shown,
                               const struct hand_table *tables, size_t count)
{
    static roast_table *kept[4096];
    static size_t kept_count;

    for (size_t i = 0; i < count; i++) {
        int id = 0;
        while (id < ROAST_TABLE_COUNT &&
               strcmp(roast_table_name((enum roast_table_id)id), tables[i].name) != 0)
            id++;
        if (id == ROAST_TABLE_COUNT)
            fail_msg("there is no table %s", tables[i].name);
        roast_table *table = roast__table_new((enum roast_table_id)id, 0);
        for (size_t row = 0; row < tables[i].row_count; row++) {
            roast__table_row(table);
            for (size_t k = 0; k < tables[i].column_count; k++) {
                size_t number =
                    column_number((enum roast_table_id)id, tables[i].columns[k]);
                fill_cell(table, (int)roast_table_col(table, number),
                          roast_table_column(table, number)->type,
                          &tables[i].cells[row * tables[i].column_count + k]);
            }
        }
        assert_int_equal(roast__table_finish(&table, NULL), ROAST_OK);
        assert_true(kept_count < COUNT_OF(kept));
        shown->tables[id] = kept[kept_count++] = table;
    }
}

#endif
