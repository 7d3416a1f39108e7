/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - rows of cells as aligned text, CSV or JSON lines.
 *
 *     struct rows rows = {.format = format};
 *     rows_begin(&rows, names, count);
 *     rows_put(&rows, cells); ...
 *     rows_end(&rows);
 *
 * Rows are written as they come; of text, the first ROWS_HELD wait until their widths
 * are known. Nothing is cut. */
#ifndef ROAST_CLI_ROWS_H
#define ROAST_CLI_ROWS_H

#include "cmd.h"
#include "roast/view.h"

enum { ROWS_HELD = 1000, ROWS_MAX_PAD = 64 };

/* A cell that waits: its fit text. */
struct held_cell {
    size_t end; /* in `texts` */
    size_t columns;
};

/* What a column has held so far: one of numbers alone is aligned to the right. */
struct align {
    bool numbers;
    bool words;
    bool right;
};

struct rows {
    enum format format;
    uint64_t right_columns; /* bit n: column n is aligned to the right, text too */
    const char **names;     /* owned, with copies of the names */
    size_t count;
    /* of text */
    size_t held; /* rows that wait */
    bool aligned;
    size_t *widths;          /* owned */
    struct align *aligns;    /* owned */
    struct held_cell *cells; /* owned */
    char *texts;             /* owned */
    size_t texts_size;
    size_t texts_cap;
};

void rows_begin(struct rows *rows, const char *const *names, size_t count);
void rows_put(struct rows *rows, const struct roast_cell *cells);
void rows_end(struct rows *rows);

/* One field of CSV, quoted where it must be. */
void csv_put(const struct roast_cell *cell);

#endif
