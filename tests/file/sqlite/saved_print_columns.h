/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_print_columns.h - a table as bytes. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_COLUMNS_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_COLUMNS_H

#include "file/run_print.h"
#include "roast/analyze.h"

static inline void print_cell(struct roast_buf *out, struct roast_cell cell)
{
    roast__buf_put_varint(out, cell.type);
    if (cell.type == ROAST_CELL_TEXT)
        print_text(out, cell.text);
    else if (cell.type == ROAST_CELL_NUMBER)
        roast__buf_put(out, &cell.number, sizeof(cell.number));
    else if (cell.type != ROAST_CELL_ABSENT)
        roast__buf_put_varint(out, cell.count);
}

static inline struct roast_buf print_columns(const roast_table *columns)
{
    struct roast_buf out = {NULL, 0, 0, false};

    for (size_t i = 0; i < roast_table_width(columns); i++) {
        const struct roast_table_column *data = roast_table_column(columns, i);
        print_text(&out, roast_str_of(data->name));
        roast__buf_put_varint(&out, data->type);
        roast__buf_put_varint(&out, data->unknown);
        for (size_t row = 0; row < roast_table_rows(columns); row++)
            print_cell(&out, roast_column_cell(data, row));
    }
    assert_true(roast__buf_ok(&out));
    return out;
}

#endif
