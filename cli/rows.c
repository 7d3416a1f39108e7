/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - rows of cells as aligned text, CSV or JSON lines. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "out.h"

/* The names are copied: whoever gave them may be gone when the widths are known. */
static void keep_names(struct rows *rows, const char *const *names, size_t count)
{
    size_t size = count * sizeof(*names);

    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    rows->names = need_memory(NULL, size);
    rows->count = count;
    char *at = (char *)&rows->names[count];
    for (size_t i = 0; i < count; i++) {
        rows->names[i] = at;
        at = stpcpy(at, names[i]) + 1;
    }
}

static void put_csv_head(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct roast_cell name = {.type = ROAST_CELL_TEXT,
                                  .text = roast_str_of(rows->names[i])};
        out_text(i > 0 ? "," : "");
        csv_put(&name);
    }
    out_text("\r\n");
}

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    out_bytes((struct roast_str){bytes, size_bytes});
}

void rows_begin(struct rows *rows, const char *const *names, size_t count)
{
    keep_names(rows, names, count);
    if (rows->format == FORMAT_CSV)
        put_csv_head(rows);
    if (rows->format != FORMAT_TEXT)
        return;
    const struct roast_text_rows_options options = {
        .names = names,
        .count = count,
        .right_columns = rows->right_columns,
        .before_head = out_wants_bold() ? BOLD : NULL,
        .after_head = out_wants_bold() ? PLAIN : NULL,
        .put = put_bytes,
    };
    rows->text = roast_text_rows_new(&options);
    if (!rows->text)
        (void)need_memory(NULL, SIZE_MAX); /* ends the program */
}

/* ---- rows --------------------------------------------------------------------- */

static void put_json_row(const struct rows *rows, const struct roast_cell *cells)
{
    struct roast_json json = out_json();

    roast_json_open(&json, '{');
    for (size_t i = 0; i < rows->count; i++) {
        roast_json_key(&json, roast_str_of(rows->names[i]));
        roast_json_cell(&json, &cells[i]);
    }
    roast_json_close(&json, '}');
    out_text("\n");
}

void rows_put(struct rows *rows, const struct roast_cell *cells)
{
    if (rows->format == FORMAT_TEXT)
        roast_text_rows_put(rows->text, cells);
    else if (rows->format == FORMAT_JSON)
        put_json_row(rows, cells);
    for (size_t i = 0; rows->format == FORMAT_CSV && i < rows->count; i++) {
        csv_put(&cells[i]);
        out_text(i + 1 < rows->count ? "," : "\r\n");
    }
}

void rows_end(struct rows *rows)
{
    if (!roast_text_rows_finish(rows->text))
        (void)need_memory(NULL, SIZE_MAX); /* ends the program */
    free(rows->names);
    *rows = (struct rows){.format = rows->format};
}
