/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_text.c - rows as aligned text. */
#include "out.h"
#include "rows.h"

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    out_bytes((struct roast_str){bytes, size_bytes});
}

static void begin(struct rows *rows)
{
    const struct roast_text_rows_options options = {
        .names = rows->names,
        .count = rows->count,
        .right_columns = rows->right_columns,
        .before_head = out_wants_bold() ? BOLD : NULL,
        .after_head = out_wants_bold() ? PLAIN : NULL,
        .put = put_bytes,
    };

    rows->text = roast_text_rows_new(&options);
    if (!rows->text)
        (void)need_memory(NULL, SIZE_MAX); /* ends the program */
}

static void put(struct rows *rows, const struct roast_cell *cells)
{
    roast_text_rows_put(rows->text, cells);
}

static void end(struct rows *rows)
{
    if (!roast_text_rows_finish(rows->text))
        (void)need_memory(NULL, SIZE_MAX); /* ends the program */
}

const struct row_writer rows_text = {begin, put, end};
