/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h - tables of a run as columns in Arrow's layout.
 *
 * One form for everybody who wants whole tables: Python (buffers, Arrow), SQL, and the
 * program's dump. Values are contiguous; a bitmap, least significant bit first, says
 * which are known; texts are int32 numbers of words. Names and units are those of
 * docs/format.md. Columns own all they hold and do not change when the run goes on. */
#ifndef ROAST_COLUMNS_H
#define ROAST_COLUMNS_H

#include "roast/analyze.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns are listed in table_columns.def. */
enum roast_data_type {
    ROAST_DATA_INT64,
    ROAST_DATA_DOUBLE,
    ROAST_DATA_BOOL, /* one byte each, 0 or 1 */
    ROAST_DATA_TIME, /* int64, ns since 1970, UTC */
    ROAST_DATA_TEXT, /* int32: number of a word */
};

struct roast_data {
    const char *name;
    enum roast_data_type type;
    const void *values;         /* rows of them; what is not known is 0 */
    const unsigned char *valid; /* NULL: all are known */
    size_t unknown;             /* how many are not known */
    /* of TEXT, in UTF-8: word n is words[ends[n - 1] .. ends[n]); ends[-1] is 0 */
    const char *words;
    const int64_t *ends;
    size_t word_count;
    const char *unit; /* "" where there is none; of TIME "ns" */
    const char *text; /* what it means */
};

typedef struct roast_columns roast_columns;

/* The tables that a run has; see columns.def. */
enum roast_columns_table {
#define T(name, text) ROAST_COLUMNS_##name,
#include "roast/columns.def"
#undef T
    ROAST_COLUMNS_TABLE_COUNT
};

const char *roast_columns_table_name(enum roast_columns_table table);
const char *roast_columns_table_text(enum roast_columns_table table);

/* The number of a table by its name, -1 for none. */
int roast_columns_table_find(const char *name);

/* Whether the table comes from the summary alone and needs no records. */
bool roast_columns_from_summary(enum roast_columns_table table);

/* Returns owned, with one reference. The summary is of the same run; the run may be one
 * whose attempts were not loaded if roast_columns_from_summary() says so. */
int roast_columns_make(roast_columns **out, enum roast_columns_table table,
                       roast_run *run, const roast_summary *summary, roast_error *err);

/* One series of all workers: worker, time, value. */
int roast_columns_of_series(roast_columns **out, roast_run *run,
                            enum roast_series series, roast_error *err);

/* References are counted: what was handed to Arrow may outlive the rest. Any thread. */
roast_columns *roast_columns_hold(roast_columns *columns);
void roast_columns_free(roast_columns *columns); /* gives one reference back */

/* All borrow the columns. */
size_t roast_columns_rows(const roast_columns *columns);
size_t roast_columns_count(const roast_columns *columns);
const struct roast_data *roast_columns_at(const roast_columns *columns, size_t column);
const struct roast_data *roast_columns_find(const roast_columns *columns,
                                            const char *name); /* NULL: no such */

/* One value as a cell; TIME is a COUNT of ns, an integer below 0 a whole NUMBER. */
struct roast_cell roast_data_cell(const struct roast_data *data, size_t row);

#ifdef __cplusplus
}
#endif

#endif
