/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.h - what is summed up of a row, so that a block of rows can be trusted. The form
 * is in docs/format.md; the code is checked.c. */
#ifndef ROAST_FILE_SQLITE_SUMS_H
#define ROAST_FILE_SQLITE_SUMS_H

#include "base/buf.h"
#include "file/sqlite/sql.h"

/* Appends all cells of a row of a statement to the bytes that are summed up. How many
 * bytes texts in it have. */
size_t roast__sum_row(struct roast_buf *row, sqlite3_stmt *statement);
void roast__sum_values(struct roast_buf *row, const struct roast_sql_value *values,
                       size_t count);

/* The sum of a column's name behind those before it; 0 before the first. */
uint32_t roast__sum_name(uint32_t sum, const char *name);

/* The sum of a block without rows: that of the names of the columns, because a value in
 * another column is another value. */
uint32_t roast__sum_begin(sqlite3_stmt *statement);

/* The sum of a block with one row more. `row` is emptied. */
uint32_t roast__sum_add(uint32_t sum, struct roast_buf *row);

/* The same with a row of at most 64 integers, of which bit n of `known` says whether
 * the n-th is known; it is 0 if not. */
uint32_t roast__sum_add_ints(uint32_t sum, uint64_t known, const int64_t *values,
                             size_t count);

#endif
