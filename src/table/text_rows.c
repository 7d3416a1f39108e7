/* SPDX-License-Identifier: BSD-3-Clause */
/* text_rows.c - rows of cells as aligned text. */
#include "roast/text_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "table/grid.h"

enum { ROWS_HELD = 1000, NUMBER_BYTES = 40 };

struct roast_text_rows {
    struct roast_text_rows_options options;
    struct roast_grid grid;
    struct roast_grid_column *columns; /* owned, with copies of the names behind them */
    unsigned char *kinds;              /* owned; what each column has held so far */
    struct roast_buf out;
    bool aligned; /* the first rows are written */
    bool failed;  /* out of memory */
};

enum { NUMBERS = 1, WORDS = 2 };

roast_text_rows *roast_text_rows_new(const struct roast_text_rows_options *options)
{
    struct roast_text_rows *rows = roast__alloc(sizeof(*rows));
    size_t size = options->count * sizeof(rows->columns[0]);

    if (!rows)
        return NULL;
    for (size_t i = 0; i < options->count; i++)
        size += strlen(options->names[i]) + 1;
    rows->options = *options;
    rows->columns = roast__alloc(size);
    rows->kinds = roast__alloc(options->count);
    if (!rows->columns || !rows->kinds) {
        roast__free(rows->columns);
        roast__free(rows->kinds);
        roast__free(rows);
        return NULL;
    }
    char *at = (char *)&rows->columns[options->count];
    for (size_t i = 0; i < options->count; i++) {
        rows->columns[i].heading = at;
        at = stpcpy(at, options->names[i]) + 1;
    }
    rows->grid = (struct roast_grid){.columns = rows->columns,
                                     .column_count = options->count,
                                     .wide = true,
                                     .before_head = options->before_head,
                                     .after_head = options->after_head};
    return rows;
}

static struct roast_str shown_cell(char room[NUMBER_BYTES],
                                   const struct roast_cell *cell)
{
    int size = 0;

    if (cell->type == ROAST_CELL_TEXT)
        return cell->text;
    if (cell->type == ROAST_CELL_COUNT)
        size = snprintf(room, NUMBER_BYTES, "%" PRIu64, cell->count);
    else if (cell->type == ROAST_CELL_NUMBER)
        size =
            snprintf(room, NUMBER_BYTES, cell->whole ? "%.0f" : "%.9g", cell->number);
    else
        size = snprintf(room, NUMBER_BYTES, "%s",
                        cell->type != ROAST_CELL_BOOL ? "-"
                        : cell->count != 0            ? "yes"
                                                      : "no");
    return (struct roast_str){room, (size_t)size};
}

static void write_held(struct roast_text_rows *rows)
{
    for (size_t i = 0; !rows->aligned && i < rows->options.count; i++)
        rows->columns[i].right = rows->kinds[i] == NUMBERS ||
                                 (i < 64 && rows->options.right_columns >> i & 1);
    rows->aligned = true;
    roast__grid_write(&rows->out, &rows->grid);
    rows->failed |= !roast__buf_ok(&rows->out);
    if (!rows->failed)
        rows->options.put(rows->options.context, rows->out.data, rows->out.size_bytes);
    roast__buf_clear(&rows->out);
}

void roast_text_rows_put(roast_text_rows *rows, const struct roast_cell *cells)
{
    for (size_t i = 0; i < rows->options.count; i++) {
        char number[NUMBER_BYTES];
        enum roast_cell_type type = cells[i].type;
        roast__grid_put(&rows->grid, shown_cell(number, &cells[i]));
        if (type == ROAST_CELL_TEXT || type == ROAST_CELL_BOOL)
            rows->kinds[i] |= WORDS;
        else if (type != ROAST_CELL_ABSENT)
            rows->kinds[i] |= NUMBERS;
    }
    if (roast__grid_rows(&rows->grid) == ROWS_HELD)
        write_held(rows);
}

bool roast_text_rows_finish(roast_text_rows *rows)
{
    if (!rows)
        return true;
    if (!rows->aligned || roast__grid_rows(&rows->grid) > 0)
        write_held(rows);
    bool done = !rows->failed;
    roast__buf_release(&rows->out);
    roast__grid_release(&rows->grid);
    roast__free(rows->columns);
    roast__free(rows->kinds);
    roast__free(rows);
    return done;
}
