/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_json.c - rows as JSON lines: one object per row. */
#include "roast/json_write.h"
#include "table/row_writer.h"

static void put(roast_row_writer *writer, const struct roast_cell *cells)
{
    const struct roast_row_writer_options *options = &writer->options;
    struct roast_json json = {.put = options->put, .context = options->context};

    roast_json_open(&json, '{');
    for (size_t i = 0; i < options->count; i++) {
        roast_json_key(&json, roast_str_of(writer->columns[i].heading));
        roast_json_cell(&json, &cells[i]);
    }
    roast_json_close(&json, '}');
    options->put(options->context, "\n", 1);
}

const struct roast_row_format roast__rows_json = {.put = put};
