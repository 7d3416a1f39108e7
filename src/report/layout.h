/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - parts of a section: titles, sentences, wrapped lines, ranked rows. */
#ifndef ROAST_REPORT_LAYOUT_H
#define ROAST_REPORT_LAYOUT_H

#include "report/page.h"
#include "table/grid.h"

enum { ROAST_GRID_MAX_COLUMNS = 6, ROAST_SENTENCE_BYTES = 1280 };

/* A title below an empty line. */
void roast__put_title(struct roast_buf *buf, const char *title);

/* One line, cut to the page. */
void roast__put_line(struct roast_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A sentence of less than ROAST_SENTENCE_BYTES, broken between words; its lines are
 * indented, from the second on by 2 more. */
void roast__put_sentence(struct roast_buf *buf, size_t indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Parts joined by " | "; a part that does not fit starts the next line. */
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

/* ---- ranked rows -------------------------------------------------------------- */

/* The values of a column, or of several columns of the first row. Borrowed. */
struct roast_ranking {
    const roast_table *table;
    int col;
    size_t count;
    bool in_row; /* columns of the first row, from `col` on */
};

#define ROAST_NO_RANK SIZE_MAX

/* The index that follows `after` in descending order, equal values in their order; the
 * first after ROAST_NO_RANK, and ROAST_NO_RANK after the last. */
size_t roast__next_in_rank(const struct roast_ranking *ranking, size_t after);

enum roast_ranked_table {
    ROAST_RANKED_SECTIONS,
    ROAST_RANKED_DATASETS,
    ROAST_RANKED_BRANCHES,
    ROAST_RANKED_ENDPOINTS,
    ROAST_RANKED_SECTION_MEMORY,
    ROAST_RANKED_RECORDED_METRICS,
    ROAST_RANKED_CALLS,
};

void roast__put_ranked_table(struct roast_buf *buf,
                             const struct roast_page_input *input,
                             enum roast_ranked_table which);

#endif
