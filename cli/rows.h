/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - rows of cells as aligned text, CSV or JSON lines.
 *
 *     struct rows rows = {.format = format};
 *     rows_begin(&rows, names, count);
 *     rows_put(&rows, cells); ...
 *     rows_end(&rows);
 *
 * Rows are written as they come. */
#ifndef ROAST_CLI_ROWS_H
#define ROAST_CLI_ROWS_H

#include "cmd.h"
#include "roast/text_rows.h"

struct rows {
    enum format format;
    uint64_t right_columns; /* bit n: column n is aligned to the right, text too */
    const char **names;     /* owned, with copies of the names */
    size_t count;
    roast_text_rows *text; /* owned; NULL of other formats */
};

void rows_begin(struct rows *rows, const char *const *names, size_t count);
void rows_put(struct rows *rows, const struct roast_cell *cells);
void rows_end(struct rows *rows);

/* One field of CSV, quoted where it must be. */
void csv_put(const struct roast_cell *cell);

#endif
