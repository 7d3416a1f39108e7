/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_row.h - a row of the table `attempts`.
 *
 * Its columns come from attempt_columns.def and ladder_items.def. SQLite stores small
 * numbers in few bytes, so a column may hold the difference to others; it is called
 * d_<name> then, and the views of the file undo it. */
#ifndef ROAST_FILE_SQLITE_ATTEMPT_ROW_H
#define ROAST_FILE_SQLITE_ATTEMPT_ROW_H

#include "base/buf.h"
#include "roast/ladder.h"
#include "run/run.h"

enum roast_row_column {
    ROAST_ROW_id,       /* number of the row, from 0 */
    ROAST_ROW_state,    /* status, parts, role and number of the try: see below */
    ROAST_ROW_process,  /* id in processes */
    ROAST_ROW_source,   /* id in sources */
    ROAST_ROW_chunk_id, /* position of its record in the order of start */
#define C(name, text) ROAST_ROW_##name,
#include "run/attempt_columns.def"
#undef C
#define I(number, name, kind, shown, text) ROAST_ROW_item_##name,
#include "roast/ladder_items.def"
#undef I
    ROAST_ROW_COUNT
};

_Static_assert((int)ROAST_ROW_COUNT <= 64, "roast_attempt_row.known has 64 bits");

enum {
    ROAST_ROW_FIRST_COLUMN = ROAST_ROW_chunk_id + 1,
    ROAST_ROW_FIRST_ITEM = ROAST_ROW_FIRST_COLUMN + ROAST_COLUMN_COUNT
};

/* state = status | parts << 2 | role << 5 | (try - 1) << 8 */
enum { ROAST_STATE_PARTS = 2, ROAST_STATE_ROLE = 5, ROAST_STATE_TRY = 8 };

/* What the column `ladder` says of the items. */
enum roast_ladder_home {
    ROAST_LADDER_IN_ITEMS = 1,  /* they are the ladder of the end frame */
    ROAST_LADDER_IN_REST = 2,   /* no items would give it back: it is in the segment */
    ROAST_LADDER_OF_RECORD = 3, /* shown only: the chunk record in the segment has it */
};

/* What is not known is 0. Checksums go over it as it lies here. */
struct roast_attempt_row {
    uint64_t known; /* bit n: values[n] is known */
    int64_t values[ROAST_ROW_COUNT];
};

static inline void roast__row_set(struct roast_attempt_row *row,
                                  enum roast_row_column column, int64_t value)
{
    row->values[column] = value;
    row->known |= UINT64_C(1) << column;
}

static inline bool roast__row_has(const struct roast_attempt_row *row,
                                  enum roast_row_column column)
{
    return (row->known >> column) & 1;
}

/* Between what is true and what is stored; start_ns is that of the run. */
void roast__row_pack(struct roast_attempt_row *row, int64_t start_ns);
void roast__row_unpack(struct roast_attempt_row *row, int64_t start_ns);

/* Appends the name of a column in the table. */
void roast__row_put_name(struct roast_buf *out, enum roast_row_column column);

/* Appends an SQL expression for its true value, where `a` is a row of attempts and `r`
 * that of run. Bit n of `columns`: the table has column n; what it has not is NULL. */
void roast__row_put_value(struct roast_buf *out, enum roast_row_column column,
                          uint64_t columns);

/* The column with a name as in the lists, or item_<name>. */
int roast__row_find(struct roast_str name);

#endif
