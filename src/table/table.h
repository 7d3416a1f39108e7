/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - tables while they are filled, row by row.
 *
 * Failure is sticky, as in base/buf.h: roast__table_finish() reports whether memory ran
 * out. A table that could not be allocated is NULL, and filling it does nothing. Values
 * that are not filled are unknown. A growing table can be read by the functions of
 * roast/table.h that take a row and a column. */
#ifndef ROAST_TABLE_TABLE_H
#define ROAST_TABLE_TABLE_H

#include "base/buf.h"
#include "roast/table.h"

/* Returns owned, with one reference; NULL when out of memory. `rows` is an estimate. */
roast_table *roast__table_new(enum roast_table_id id, size_t rows);

/* Ends the filling. On failure the table is freed, and NULL. */
int roast__table_finish(roast_table **table, roast_error *err);

/* From now on rows are passed on and removed when there are so many; those that are left
 * at the end are in the finished table. Borrowed; NULL table: nothing. */
void roast__table_part(roast_table *table, const struct roast_table_parts *parts);

/* Marks the table as failed: finishing reports that memory ran out. */
void roast__table_fail(roast_table *table);
bool roast__table_ok(const roast_table *table);

/* Begins the next row; the fills below go there. */
void roast__table_row(roast_table *table);

void roast__fill_int(roast_table *table, int col, int64_t value); /* or TIME */
/* Values that do not fit, and numbers that are not finite, stay unknown. */
void roast__fill_count(roast_table *table, int col, uint64_t count);
void roast__fill_sum(roast_table *table, int col, double count);
void roast__fill_number(roast_table *table, int col, double value);
void roast__fill_bool(roast_table *table, int col, bool value);

/* Bytes that are no UTF-8 become U+FFFD; an absent text is unknown. */
void roast__fill_text(roast_table *table, int col, struct roast_str text);
void roast__fill_string(roast_table *table, int col, const char *text);

/* Adds a text to a list; roast__fill_list() fills a column with the list and releases
 * it. */
void roast__list_add(struct roast_buf *list, struct roast_str text);
void roast__fill_list(roast_table *table, int col, struct roast_buf *list);

/* The number of a text that is used in many rows, and filling a row with it; negative:
 * unknown. */
int32_t roast__table_word(roast_table *table, int col, struct roast_str text);
void roast__fill_word(roast_table *table, int col, int32_t word);

/* Fills with a value of another table, whose column has the same type. */
void roast__fill_from(roast_table *table, int col, const roast_table *from, size_t row,
                      int from_col);

/* The first row with this text; the number of rows if there is none. Fast where every
 * row has its own text. */
size_t roast__table_find(const roast_table *table, int col, struct roast_str text);

/* How many rows have this text. */
size_t roast__table_count(const roast_table *table, int col, const char *text);

/* Removes a column from a finished table with one reference. */
void roast__table_drop(roast_table *table, int col);

/* ---- the list ------------------------------------------------------------------ */

/* The first column of a table, and how many it has, those of the ladder included. */
int roast__table_first(enum roast_table_id id);
size_t roast__table_listed(enum roast_table_id id);

/* Name, type, unit and meaning of a column. */
struct roast_table_column roast__table_info(enum roast_table_id id, size_t column);

/* By roast_table_id; NULL where there is none. */
typedef roast_table *roast_tables[ROAST_TABLE_COUNT];

#endif
