/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c - the text aligner.
 *
 * Widths are counted in columns of a terminal, not in bytes. Trailing spaces are not
 * written: they would show up when texts are compared. */
#include "table/grid.h"

#include <string.h>

#include "roast/number.h"

enum { INDENT = 2, GAP = 2 };

struct cell_place {
    size_t offset;
    size_t size_bytes;
    size_t columns;
};

void roast__end_line(struct roast_buf *buf)
{
    while (buf->size_bytes > 0 && buf->data[buf->size_bytes - 1] == ' ')
        buf->size_bytes--;
    roast__put(buf, "\n");
}

static struct cell_place cell_at(const struct roast_grid *grid, size_t index)
{
    struct cell_place place;

    memcpy(&place, grid->cells.data + index * sizeof(place), sizeof(place));
    return place;
}

static size_t cell_count(const struct roast_grid *grid)
{
    return grid->cells.size_bytes / sizeof(struct cell_place);
}

size_t roast__grid_rows(const struct roast_grid *grid)
{
    return grid->column_count > 0 ? cell_count(grid) / grid->column_count : 0;
}

void roast__grid_put(struct roast_grid *grid, struct roast_str text)
{
    const struct roast_grid_column *column =
        &grid->columns[cell_count(grid) % grid->column_count];
    size_t most = column->max_columns ? column->max_columns : ROAST_PAGE_COLUMNS;
    struct cell_place place = {.offset = grid->text.size_bytes};

    place.columns =
        roast__put_text(&grid->text, text, grid->wide ? SIZE_MAX : most, column->cut);
    place.size_bytes = grid->text.size_bytes - place.offset;
    if (roast__buf_ok(&grid->text))
        roast__buf_put(&grid->cells, &place, sizeof(place));
}

void roast__grid_put_number(struct roast_grid *grid, double value, const char *unit)
{
    char text[ROAST_NUMBER_BYTES];

    (void)roast_format_number(text, value, unit);
    roast__grid_put(grid, roast_str_of(text));
}

/* The widest cell of a column. */
static size_t widest(const struct roast_grid *grid, size_t column)
{
    const char *heading = grid->columns[column].heading;
    size_t width =
        grid->columns[0].heading ? roast__text_columns(roast_str_of(heading)) : 0;

    for (size_t i = column; i < cell_count(grid); i += grid->column_count) {
        size_t columns = cell_at(grid, i).columns;
        width = columns > width ? columns : width;
    }
    return grid->wide && width > ROAST_WIDEST_PAD ? ROAST_WIDEST_PAD : width;
}

/* On a page the last column is limited to the rest of the line. */
static void fix_widths(struct roast_grid *grid)
{
    size_t used = INDENT;

    for (size_t i = 0; i < grid->column_count; i++) {
        size_t width = widest(grid, i);
        size_t left = used < ROAST_PAGE_COLUMNS ? ROAST_PAGE_COLUMNS - used : 0;
        if (!grid->wide && i + 1 == grid->column_count && width > left)
            width = left;
        used += width + GAP;
        roast__buf_put(&grid->widths, &width, sizeof(width));
    }
}

static void write_cell(struct roast_buf *buf, const struct roast_grid *grid,
                       size_t number, struct roast_str text)
{
    const struct roast_grid_column *column = &grid->columns[number];
    bool last = number + 1 == grid->column_count;
    size_t columns = roast__text_columns(text), width;

    memcpy(&width, grid->widths.data + number * sizeof(width), sizeof(width));
    size_t blanks = columns < width ? width - columns : 0;
    if (number == 0 && !grid->wide)
        roast__put_blanks(buf, INDENT);
    if (column->right)
        roast__put_blanks(buf, blanks);
    (void)roast__put_text(buf, text, grid->wide ? SIZE_MAX : width, column->cut);
    if (!last)
        roast__put_blanks(buf, column->right ? GAP : blanks + GAP);
    else if (grid->wide)
        roast__put(buf, "\n"); /* trailing spaces of the data are kept */
    else
        roast__end_line(buf);
}

void roast__grid_write(struct roast_buf *buf, struct roast_grid *grid)
{
    bool first = grid->widths.size_bytes == 0;

    if (first)
        fix_widths(grid);
    if (!roast__buf_ok(&grid->text) || !roast__buf_ok(&grid->cells) ||
        !roast__buf_ok(&grid->widths)) {
        buf->failed = true;
        return;
    }
    if (first && grid->columns[0].heading) {
        roast__put(buf, grid->before_head ? grid->before_head : "");
        for (size_t i = 0; i < grid->column_count; i++)
            write_cell(buf, grid, i, roast_str_of(grid->columns[i].heading));
        roast__put(buf, grid->after_head ? grid->after_head : "");
    }
    for (size_t i = 0; i < roast__grid_rows(grid) * grid->column_count; i++) {
        struct cell_place place = cell_at(grid, i);
        write_cell(buf, grid, i % grid->column_count,
                   (struct roast_str){(const char *)grid->text.data + place.offset,
                                      place.size_bytes});
    }
    grid->text.size_bytes = 0;
    grid->cells.size_bytes = 0;
}

void roast__grid_release(struct roast_grid *grid)
{
    roast__buf_release(&grid->text);
    roast__buf_release(&grid->cells);
    roast__buf_release(&grid->widths);
}
