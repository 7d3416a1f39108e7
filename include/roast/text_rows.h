/* SPDX-License-Identifier: BSD-3-Clause */
/* text_rows.h - rows of cells as aligned text.
 *
 * Rows are written as they come; the first 1000 are held back to compute the widths.
 * Columns of numbers are aligned to the right. Nothing is cut. */
#ifndef ROAST_TEXT_ROWS_H
#define ROAST_TEXT_ROWS_H

#include "roast/error.h"
#include "roast/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct roast_text_rows roast_text_rows;

struct roast_text_rows_options {
    const char *const *names; /* of the columns; copied */
    size_t count;
    uint64_t right_columns; /* bit n: column n is aligned to the right, text too */
    const char *before_head, *after_head; /* NULL: nothing; static */
    void (*put)(void *context, const void *bytes, size_t size_bytes);
    void *context;
};

/* Returns owned; NULL when out of memory. */
roast_text_rows *roast_text_rows_new(const struct roast_text_rows_options *options);
void roast_text_rows_put(roast_text_rows *rows, const struct roast_cell *cells);

/* Writes the remaining rows and frees them; NULL is allowed. False: memory ran out. */
bool roast_text_rows_finish(roast_text_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
