/* SPDX-License-Identifier: BSD-3-Clause */
/* row_writer.h - rows of cells as aligned text, CSV or JSON lines.
 *
 * Rows are written as they come; of text the first 1000 are held until the widths are
 * known. Columns of numbers are aligned to the right. Nothing is cut. */
#ifndef ROAST_ROW_WRITER_H
#define ROAST_ROW_WRITER_H

#include "roast/error.h"
#include "roast/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies a text; control characters, invisible ones, those that reorder a line, and bytes
 * that are no UTF-8 become '?'. `out` has the size of the text; returns the bytes
 * written. */
size_t roast_printable(char *out, struct roast_str text);

enum roast_format {
#define F(NAME, name) ROAST_FORMAT_##NAME,
#include "roast/row_formats.def"
#undef F
    ROAST_FORMAT_COUNT
};

const char *roast_format_name(enum roast_format format); /* "text" ... */

typedef struct roast_row_writer roast_row_writer;

struct roast_row_writer_options {
    enum roast_format format;
    const char *const *names; /* of the columns; copied */
    size_t count;
    uint64_t right_columns; /* text: bit n aligns column n to the right */
    const char *before_head,
        *after_head; /* text: around the names; NULL: nothing; static */
    void (*put)(void *context, const void *bytes, size_t size_bytes);
    void *context;
};

/* Returns owned; NULL when out of memory. */
roast_row_writer *roast_row_writer_new(const struct roast_row_writer_options *options);
void roast_row_writer_put(roast_row_writer *writer, const struct roast_cell *cells);

/* Writes the held rows and frees the writer; NULL is allowed. False: out of memory. */
bool roast_row_writer_finish(roast_row_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
