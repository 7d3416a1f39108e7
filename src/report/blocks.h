/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - what blocks of a page are made of: grids, lines that wrap, ranks. */
#ifndef ROAST_REPORT_BLOCKS_H
#define ROAST_REPORT_BLOCKS_H

#include "report/page.h"
#include "table/grid.h"

enum { ROAST_GRID_MAX_COLUMNS = 6 }; /* of a block */

/* The head of a block, with an empty line above it; "  3 more". */
void roast__put_title(struct roast_buf *buf, const char *title);
void roast__put_count_line(struct roast_buf *buf, uint64_t count, const char *words);

/* Parts joined by " | "; one that does not fit starts the next line. */
struct roast_wrapped_line {
    struct roast_buf *buf;
    size_t indent;
    size_t columns;
    size_t parts;
};

void roast__line_part(struct roast_wrapped_line *line, struct roast_str text);
void roast__line_format(struct roast_wrapped_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes nothing when there was no part. */
void roast__line_end(struct roast_wrapped_line *line);

/* A sentence, broken between words; its lines are indented, from the second on more. */
void roast__put_sentence(struct roast_buf *buf, size_t indent, const char *text);

/* ---- ranks -------------------------------------------------------------------- */

/* Numbers that are ranked, of a column or of the first row. Borrowed. */
struct roast_ranked {
    const roast_table *table;
    int col;
    size_t count;
    bool across; /* columns of one row, from `col` on */
};

#define ROAST_NO_RANK SIZE_MAX

/* The one that follows `after` from the largest down, equal ones as they come; the
 * first after ROAST_NO_RANK, and ROAST_NO_RANK after the last. */
size_t roast__next_in_rank(const struct roast_ranked *ranked, size_t after);

/* Tables whose rows are ranked. */
enum roast_group {
    ROAST_GROUP_SECTIONS,
    ROAST_GROUP_DATASETS,
    ROAST_GROUP_BRANCHES,
    ROAST_GROUP_ENDPOINTS,
};

void roast__put_group(struct roast_buf *buf, const struct roast_shown *shown,
                      enum roast_group group);

#endif
