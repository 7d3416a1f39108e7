/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_text.c - rows as aligned text. */
#include <inttypes.h>
#include <stdio.h>

#include "table/row_writer.h"

enum { ROWS_HELD = 1000, NUMBER_BYTES = 40 };

enum { NUMBERS = 1, WORDS = 2 };

static struct roast_str text_of(char number[NUMBER_BYTES],
                                const struct roast_cell *cell)
{
    int size = 0;

    if (cell->type == ROAST_CELL_TEXT)
        return cell->text;
    if (cell->type == ROAST_CELL_COUNT)
        size = snprintf(number, NUMBER_BYTES, "%" PRIu64, cell->count);
    else if (cell->type == ROAST_CELL_NUMBER)
        size =
            snprintf(number, NUMBER_BYTES, cell->whole ? "%.0f" : "%.9g", cell->number);
    else
        size = snprintf(number, NUMBER_BYTES, "%s",
                        cell->type != ROAST_CELL_BOOL ? "-"
                        : cell->count != 0            ? "yes"
                                                      : "no");
    return (struct roast_str){number, (size_t)size};
}

static void write_held(struct roast_row_writer *writer)
{
    for (size_t i = 0; !writer->aligned && i < writer->options.count; i++)
        writer->columns[i].right = writer->kinds[i] == NUMBERS ||
                                   (i < 64 && writer->options.right_columns >> i & 1);
    writer->aligned = true;
    roast__grid_write(&writer->out, &writer->grid);
    roast__row_writer_flush(writer);
}

static void put(roast_row_writer *writer, const struct roast_cell *cells)
{
    for (size_t i = 0; i < writer->options.count; i++) {
        char number[NUMBER_BYTES];
        enum roast_cell_type type = cells[i].type;
        roast__grid_put(&writer->grid, text_of(number, &cells[i]));
        if (type == ROAST_CELL_TEXT || type == ROAST_CELL_BOOL)
            writer->kinds[i] |= WORDS;
        else if (type != ROAST_CELL_ABSENT)
            writer->kinds[i] |= NUMBERS;
    }
    if (roast__grid_rows(&writer->grid) == ROWS_HELD)
        write_held(writer);
}

static void end(roast_row_writer *writer)
{
    if (!writer->aligned || roast__grid_rows(&writer->grid) > 0)
        write_held(writer);
}

const struct roast_row_format roast__rows_text = {.put = put, .end = end};
