/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h - the tables of columns.def while they are filled, row by row.
 *
 * Failure is sticky, as in base/buf.h: put as often as you like; finishing says whether
 * memory ran out. What is not put in a row is not known there. Columns are named by
 * table_columns.def. */
#ifndef ROAST_ANALYZE_TABLES_COLUMNS_H
#define ROAST_ANALYZE_TABLES_COLUMNS_H

#include "roast/columns.h"
#include "roast/ladder.h"

/* ROAST_AT_<table>_<column> */
enum roast_at {
#define C(name, table, type, unit, text) ROAST_AT_##table##_##name,
#include "roast/table_columns.def"
#undef C
    ROAST_AT_COUNT
};

/* Behind the fixed columns of `chunks` there is one for every item of the ladder. */
static inline int roast__at_item(enum roast_ladder_item item)
{
    return ROAST_AT_chunks_undecorated + 1 + (int)item;
}

struct roast_builder;

/* Begins a table; `rows` is a guess. Returns owned, NULL when out of memory. */
struct roast_builder *roast__builder_new(enum roast_columns_table table, size_t rows);
void roast__builder_free(struct roast_builder *builder);

/* Gives the table, with one reference, and frees the builder. */
int roast__builder_finish(roast_columns **out, struct roast_builder *builder,
                          roast_error *err);

/* Something else ran out of memory: finishing will say so. */
void roast__builder_fail(struct roast_builder *builder);
bool roast__builder_ok(const struct roast_builder *builder);

/* Begins the next row; the puts below go there. */
void roast__builder_row(struct roast_builder *builder);

void roast__fill_int(struct roast_builder *builder, int at,
                     int64_t value); /* or TIME */
void roast__fill_count(struct roast_builder *builder, int at,
                       uint64_t count); /* one that no int64_t holds is not known */
void roast__fill_number(struct roast_builder *builder, int at,
                        double value); /* neither is what is no finite number */
void roast__fill_sum(struct roast_builder *builder, int at, double count);
void roast__fill_bool(struct roast_builder *builder, int at, bool value);

/* Bytes that are no UTF-8 become U+FFFD; an absent text is not known. */
void roast__fill_text(struct roast_builder *builder, int at, struct roast_str text);

/* The word of a column for a text that will come often, and a row with it; negative:
 * not known. */
int32_t roast__word(struct roast_builder *builder, int at, struct roast_str text);
void roast__fill_word(struct roast_builder *builder, int at, int32_t word);

#endif
