/* SPDX-License-Identifier: BSD-3-Clause */
/* virtual_table.h - rows that SQLite reads without a copy.
 *
 * Rows are registered with SQLite as a virtual table. `INSERT INTO t SELECT * FROM
 * rows` then fills a plain table in one statement, twice as fast as binding row by row,
 * and a SELECT can read tables that are not in the file. */
#ifndef ROAST_FILE_SQLITE_VIRTUAL_TABLE_H
#define ROAST_FILE_SQLITE_VIRTUAL_TABLE_H

#include "file/sqlite/sql.h"
#include "roast/analyze.h"

struct roast_virtual_table {
    size_t rows;
    size_t columns;
    /* Name of a column, and what to declare it as; borrowed. NULL: they need none. */
    const char *(*name)(void *context, size_t column);
    const char *(*type)(void *context, size_t column);
    /* Gives the value of a cell to SQLite; without a call of it the cell is NULL. Rows
     * come in order, the columns of a row together. */
    void (*cell)(sqlite3_context *out, void *context, size_t row, size_t column);
    void *context; /* borrowed */
};

/* Adds all rows to a plain table whose first column, its id, counts them from 0. */
int roast__virtual_table_insert(sqlite3 *db, const char *table,
                                const struct roast_virtual_table *rows,
                                roast_error *err);

/* Rows that are made when a query first reads them. */
struct roast_lazy_table {
    /* Fills *out, which must be valid until the connection closes. */
    int (*make)(struct roast_virtual_table *out, void *context, roast_error *err);
    void *context;
    struct roast_virtual_table made;
    size_t first;        /* row that a scan begins with */
    roast_error failure; /* of make */
};

/* Registers them as a table for every SELECT of the connection, unless the file has
 * one of that name. Takes `rows` for roast__free(), also when it fails. */
int roast__virtual_table_show(sqlite3 *db, const char *table,
                              struct roast_lazy_table *rows, roast_error *err);

/* The columns of a table as rows; borrows them. */
struct roast_virtual_table roast__virtual_table_of(const roast_table *columns);

/* What a column of that type is declared as. */
const char *roast__sql_type(enum roast_dtype type);

#endif
