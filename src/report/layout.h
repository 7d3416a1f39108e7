/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - parts of a section: titles, sentences, wrapped lines, ranked rows. */
#ifndef ROAST_REPORT_LAYOUT_H
#define ROAST_REPORT_LAYOUT_H

#include "report/page.h"
#include "table/grid.h"

enum { ROAST_SENTENCE_BYTES = 1280, ROAST_FULL_ROWS = 1000 };

/* The words of the page. */
enum roast_term {
#define W(id, section, shown, meaning) ROAST_TERM_##id,
#include "report/page_terms.def"
#undef W
};
const char *roast__term(enum roast_term term);

/* How many rows of a table are shown: `brief` on the short page. */
static inline size_t roast__most_rows(const struct roast_page_input *input,
                                      size_t brief)
{
    return roast__is_short(input) ? brief : ROAST_FULL_ROWS;
}

/* "  16 more: full=True" after `shown` of `rows` rows; nothing if all are shown. */
void roast__put_more(struct roast_buf *buf, const struct roast_page_input *input,
                     size_t rows, size_t shown);

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

/* The sections below the tables of metrics. */
typedef void roast_put_section(struct roast_buf *buf,
                               const struct roast_page_input *input);
roast_put_section roast__put_not_available;
roast_put_section roast__put_failures;
roast_put_section roast__put_lost_workers;
roast_put_section roast__put_chunk_section; /* where the time of the chunks went */
roast_put_section roast__put_reads_section;
roast_put_section roast__put_tasks;
roast_put_section roast__put_hot_lines;
roast_put_section roast__put_losses;
roast_put_section roast__put_critical_path;
roast_put_section roast__put_other_workers;

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
#define T(id, table, title, least, brief, order, rank_by, rank_else, text) \
    ROAST_RANKED_##id,
#define C(id, table, column, kind, heading)
#include "report/page_tables.def"
#undef C
#undef T
};

void roast__put_ranked_table(struct roast_buf *buf,
                             const struct roast_page_input *input,
                             enum roast_ranked_table which);

#endif
