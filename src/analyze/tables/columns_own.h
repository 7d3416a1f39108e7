/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_own.h - the inside of a roast_columns, and what its columns are called. */
#ifndef ROAST_ANALYZE_TABLES_COLUMNS_OWN_H
#define ROAST_ANALYZE_TABLES_COLUMNS_OWN_H

#include <stdatomic.h>

#include "roast/columns.h"

struct roast_columns {
    atomic_size_t holders;
    size_t rows;
    size_t count;
    struct roast_data *data; /* owned */
    void *zeros; /* owned; values, and the bitmap, of columns without any value */
};

/* Where the columns of a table begin in table_columns.def, and how many it has, those
 * of the ladder included. */
int roast__columns_first(enum roast_columns_table table);
size_t roast__columns_listed(enum roast_columns_table table);

/* Name, type, unit and meaning of a column. */
struct roast_data roast__columns_info(enum roast_columns_table table, size_t column);

/* Takes a column out of a table that nobody else holds yet. */
void roast__columns_drop(struct roast_columns *columns, size_t column);

#endif
