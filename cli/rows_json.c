/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_json.c - rows as JSON lines: one object per row. */
#include "out.h"
#include "rows.h"

static void put(struct rows *rows, const struct roast_cell *cells)
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

const struct row_writer rows_json = {.put = put};
