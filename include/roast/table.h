/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - one table type: named, typed columns in Arrow's layout.
 *
 * All data in rows are roast_tables: chunks, samples, timelines, findings, the budget.
 * tables.def lists the tables, table_columns.def their columns. C code names a column by
 * its enum: a column that does not exist is a compile error. Names from users are resolved
 * once.
 *
 * Values are contiguous; a bitmap, least significant bit first, marks the known ones;
 * texts are int32 numbers of words. A table owns its data and does not change while the
 * run continues. */
#ifndef ROAST_TABLE_H
#define ROAST_TABLE_H

#include "roast/error.h"
#include "roast/ladder.h"
#include "roast/view.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_dtype {
    ROAST_DTYPE_INT64,
    ROAST_DTYPE_DOUBLE,
    ROAST_DTYPE_BOOL, /* one byte each, 0 or 1 */
    ROAST_DTYPE_TIME, /* int64, ns since 1970, UTC */
    ROAST_DTYPE_TEXT, /* int32: number of a word */
};

/* How get_metrics() and the JSON report show a table of a summary. */
enum roast_table_shape {
    ROAST_SHAPE_NONE,   /* not at all */
    ROAST_SHAPE_KEYED,  /* rows under their key, the first column */
    ROAST_SHAPE_LIST,   /* a list of rows */
    ROAST_SHAPE_SINGLE, /* the only row */
    ROAST_SHAPE_VALUES, /* a list of the values of the only column */
    ROAST_SHAPE_SCALAR, /* the only value */
    ROAST_SHAPE_COUNTS, /* the second column under the first, where it is not 0 */
};

enum roast_table_id {
#define T(name, key, shape, maker, needs, text) ROAST_TABLE_##name,
#define S(name, key, shape, text) ROAST_TABLE_##name,
#include "roast/tables.def"
#undef T
#undef S
    ROAST_TABLE_COUNT,
    ROAST_RUN_TABLE_COUNT = 0 /* those of a run */
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define T(name, key, shape, maker, needs, text) +1
#define S(name, key, shape, text)
#include "roast/tables.def"
#undef T
#undef S
};

/* ROAST_COL_<table>_<column> */
enum roast_col {
#define C(name, table, type, unit, text) ROAST_COL_##table##_##name,
#include "roast/table_columns.def"
#undef C
    ROAST_COL_COUNT
};

/* `chunks`, the first table, goes on with a column for every item of the ladder. */
enum {
    ROAST_CHUNKS_COL_COUNT = 0
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define C(name, table, type, unit, text) +(ROAST_TABLE_##table == ROAST_TABLE_chunks)
#include "roast/table_columns.def"
#undef C
};

static inline int roast_chunk_item_col(enum roast_ladder_item item)
{
    return ROAST_CHUNKS_COL_COUNT + (int)item;
}

/* All return static texts. */
const char *roast_table_name(enum roast_table_id id);
const char *roast_table_description(enum roast_table_id id);
/* The key of a table in a summary, NULL if summaries do not have it; and the key of a
 * column there, which differs where a time is in seconds. */
const char *roast_table_key(enum roast_table_id id);
enum roast_table_shape roast_table_shape(enum roast_table_id id);
const char *roast_col_key(int col);

/* The table of a run by its name, -1 for none. */
int roast_table_find(const char *name);

struct roast_table_column {
    const char *name;
    enum roast_dtype type;
    bool is_list;               /* of TEXT: several texts, joined by ", " */
    const void *values;         /* one per row; 0 where unknown */
    const unsigned char *valid; /* NULL: all are known */
    size_t unknown;             /* number of unknown values */
    /* of TEXT, in UTF-8: word n is words[ends[n - 1] .. ends[n]); ends[-1] is 0 */
    const char *words;
    const int64_t *ends;
    size_t word_count;
    const char *unit; /* "" where there is none; of TIME "ns" */
    const char *text; /* what it means */
};

typedef struct roast_table roast_table;

/* References are counted: Arrow consumers may keep a table. Thread-safe. */
roast_table *roast_table_hold(roast_table *table);
void roast_table_free(roast_table *table); /* drops one reference */

/* A table in parts of so many rows; SIZE_MAX: one part. The number of a text is the same in
 * all parts. */
struct roast_table_parts {
    size_t rows;
    /* Owns the part. Keeps its own failures, and returns false to end the making. */
    bool (*put)(void *context, roast_table *part);
    void *context;
};

/* All below borrow the table. NULL is a table without rows. */
size_t roast_table_rows(const roast_table *table);
size_t roast_table_width(const roast_table *table); /* number of columns */
const struct roast_table_column *roast_table_column(const roast_table *table,
                                                    size_t column);
int roast_table_col(const roast_table *table, size_t column);

/* One value; `col` is a column of this table. Unknown: false, NaN, a text without data. */
bool roast_table_known(const roast_table *table, size_t row, int col);
double roast_table_number(const roast_table *table, size_t row, int col);
bool roast_table_int(int64_t *value, const roast_table *table, size_t row, int col);
bool roast_table_flag(const roast_table *table, size_t row, int col);
struct roast_str roast_table_text(const roast_table *table, size_t row, int col);

/* Removes the next text from a list, the value of a list column; false: it is empty. */
bool roast_table_item(struct roast_str *item, struct roast_str *list);

/* One value as a cell; TIME is a COUNT of ns, an integer below 0 a whole NUMBER. */
struct roast_cell roast_column_cell(const struct roast_table_column *column,
                                    size_t row);

#ifdef __cplusplus
}
#endif

#endif
