/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h - the text aligner: cells in columns, for pages and for the program.
 *
 * A grid collects its cells; the first write fixes the widths, and later rows use the same
 * widths. On a page no line is longer than ROAST_PAGE_COLUMNS and cells are cut; a wide
 * grid cuts nothing. Failure is that of its buffers. */
#ifndef ROAST_TABLE_GRID_H
#define ROAST_TABLE_GRID_H

#include "table/glyphs.h"

enum { ROAST_PAGE_COLUMNS = 80, ROAST_WIDEST_PAD = 64 };

struct roast_grid_column {
    const char *heading; /* NULL in the first column: no line of headings */
    size_t max_columns;  /* 0 (only of the last column): the rest of the line */
    bool right;          /* aligned to the right */
    enum roast_cut cut;
};

/* Zeroed but for the first two = empty and valid. */
struct roast_grid {
    const struct roast_grid_column *columns;
    size_t column_count;
    bool wide;
    const char *before_head, *after_head; /* of a wide grid */
    struct roast_buf text;
    struct roast_buf cells;
    struct roast_buf widths; /* size_t each, once they are fixed */
};

void roast__grid_put(struct roast_grid *grid, struct roast_str text);
void roast__grid_put_number(struct roast_grid *grid, double value, const char *unit);
size_t roast__grid_rows(const struct roast_grid *grid); /* not yet written */

/* Writes the rows not yet written, the first time below the headings. */
void roast__grid_write(struct roast_buf *buf, struct roast_grid *grid);
void roast__grid_release(struct roast_grid *grid);

/* Ends a line, without trailing spaces. */
void roast__end_line(struct roast_buf *buf);

#endif
