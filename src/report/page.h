/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h - what the pages of a report are made of: a source, lines and grids.
 *
 * Pages are pure functions of metrics, tables and a heading, so that a test can fill
 * them by hand. Everything is appended to a roast_buf, whose failure sticks; a page
 * checks once, at its end. */
#ifndef ROAST_REPORT_PAGE_H
#define ROAST_REPORT_PAGE_H

#include "roast/report.h"
#include "table/grid.h"

/* What is shown. Borrowed. */
struct roast_shown {
    const struct roast_metric_values *values;
    const roast_table *tables[ROAST_TABLE_COUNT]; /* NULL: there is none */
    const struct roast_heading *heading;          /* NULL: none */
};

int roast__report_text(struct roast_page *out, const struct roast_shown *shown,
                       roast_error *err);
int roast__report_headline(struct roast_page *out, const struct roast_shown *shown,
                           roast_error *err);
int roast__report_card(struct roast_page *out, const struct roast_shown *shown,
                       roast_error *err);

void roast__put_headline(struct roast_buf *buf, const struct roast_shown *shown);
void roast__put_rows(struct roast_buf *buf, const char *title,
                     const struct roast_row *rows, size_t count);
/* The first lines, and what follows here: did it finish, did anything fail, what took
 * the time, what is the one thing to change. */
void roast__put_first_screen(struct roast_buf *buf, const struct roast_shown *shown);
/* What to change, where the time of all workers went, and what that was checked
 * against; nothing where not known. */
void roast__put_findings_section(struct roast_buf *buf,
                                 const struct roast_shown *shown);
void roast__put_budget_section(struct roast_buf *buf, const struct roast_shown *shown);
void roast__put_checks(struct roast_buf *buf, const struct roast_shown *shown);
/* Where the time of the chunks went, and what they read; nothing where not known. */
void roast__put_chunk_section(struct roast_buf *buf, const struct roast_shown *shown);
void roast__put_reading(struct roast_buf *buf, const struct roast_shown *shown);
/* Lost workers, tasks and hot lines of a cluster; nothing without one. */
void roast__put_cluster(struct roast_buf *buf, const struct roast_shown *shown);
/* What the six tables do not hold: failures, sections, datasets, losses, reasons. */
void roast__put_blocks(struct roast_buf *buf, const struct roast_shown *shown);

/* Around a heading. No text from data has them: it is made fit for a terminal first. */
#define ROAST_HEADING "\002"
#define ROAST_HEADING_END "\003"

/* The end of every page: moves buf's bytes to *out without the marks of headings, or
 * reports that memory ran out. The second makes headings bold. */
int roast__page_finish(struct roast_page *out, struct roast_buf *buf, roast_error *err);
int roast__page_finish_bold(struct roast_page *out, struct roast_buf *buf,
                            roast_error *err);

/* ---- values ------------------------------------------------------------------- */

bool roast__metric(double *value, const struct roast_shown *shown,
                   enum roast_metric metric); /* false: not known */
size_t roast__format_metric(char out[ROAST_NUMBER_BYTES], enum roast_metric metric,
                            double value); /* in the unit that readers know */

struct roast_number_text {
    char text[ROAST_NUMBER_BYTES];
};

/* A number as text, for one expression. */
static inline struct roast_number_text roast__number(double value, const char *unit)
{
    struct roast_number_text number;

    (void)roast_format_number(number.text, value, unit);
    return number;
}

/* A text of a table, or another one where it is absent. */
static inline struct roast_str roast__text_or(struct roast_str text, const char *other)
{
    return text.data ? text : roast_str_of(other);
}

/* A cell: its text or "-", and as a number of a grid. */
static inline struct roast_str roast__cell_text(const roast_table *table, size_t row,
                                                int col)
{
    return roast__text_or(roast_table_text(table, row, col), "-");
}

static inline void roast__grid_put_cell(struct roast_grid *grid,
                                        const roast_table *table, size_t row, int col,
                                        const char *unit)
{
    roast__grid_put_number(grid, roast_table_number(table, row, col), unit);
}

#endif
