/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - rows of cells, in one of the formats of formats.def.
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

/* What a format does; NULL: nothing. The names are there from begin to end. */
struct row_writer {
    void (*begin)(struct rows *rows);
    void (*put)(struct rows *rows, const struct roast_cell *cells);
    void (*end)(struct rows *rows);
};

#define F(NAME, name) extern const struct row_writer rows_##name;
#include "formats.def"
#undef F

/* "|text|csv|json"; without the first character it is the value of an option. */
#define ROW_FORMATS (&row_formats[1])
static const char row_formats[] =
#define F(NAME, name) "|" #name
#include "formats.def"
#undef F
    ;

#endif
