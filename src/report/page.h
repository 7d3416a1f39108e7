/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h - the pages of a report and their sections.
 *
 * Pages are pure functions of metrics, tables and a heading, so that a test can fill
 * them by hand. Everything is appended to a roast_buf, whose failure is sticky; a page
 * checks it once, at its end. A section without data writes nothing. */
#ifndef ROAST_REPORT_PAGE_H
#define ROAST_REPORT_PAGE_H

#include "roast/report.h"
#include "table/grid.h"

/* Borrowed. */
struct roast_page_input {
    const struct roast_metric_values *values;
    const roast_table *tables[ROAST_TABLE_COUNT]; /* NULL: absent */
    const struct roast_heading *heading;          /* NULL: none */
};

/* A command has neither chunks nor workers: only its own table is shown. */
bool roast__is_command(const struct roast_metric_values *values);

/* The short page has the first screen, the tables of metrics and what else fits. */
static inline bool roast__is_short(const struct roast_page_input *input)
{
    return input->heading && input->heading->full_by;
}

int roast__report_text(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err);
int roast__report_headline(struct roast_page *out, const struct roast_page_input *input,
                           roast_error *err);
int roast__report_card(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err);

void roast__put_headline(struct roast_buf *buf, const struct roast_page_input *input);
/* The headline, the findings, the budget, the checks and the remarks; where the page is
 * short, in at most `most_lines` if the first finding fits. */
void roast__put_first_screen(struct roast_buf *buf,
                             const struct roast_page_input *input, size_t most_lines);
void roast__put_findings_section(struct roast_buf *buf,
                                 const struct roast_page_input *input,
                                 size_t most_lines);
/* Where the time of all workers went, and the comparison of our numbers with others. */
void roast__put_budget_section(struct roast_buf *buf,
                               const struct roast_page_input *input, size_t most_bars);
void roast__put_checks(struct roast_buf *buf, const struct roast_page_input *input);
void roast__put_remarks(struct roast_buf *buf, const struct roast_page_input *input);

/* The sections below the tables of metrics, all and in their order. */
void roast__put_sections_below(struct roast_buf *buf,
                               const struct roast_page_input *input);

/* Rows below a title in one or two columns; a value without its reason. */
void roast__put_rows(struct roast_buf *buf, const char *title,
                     const struct roast_row *rows, size_t count, size_t columns);
size_t roast__count_lines(const struct roast_buf *buf);
/* Moves the bytes of a part to the end of a page. */
void roast__put_part(struct roast_buf *buf, struct roast_buf *part);

/* Marks around a heading. Text from data cannot contain them: control characters are
 * replaced before. */
#define ROAST_HEADING "\002"
#define ROAST_HEADING_END "\003"

/* The end of every page: moves buf's bytes to *out without the marks of headings, or
 * reports that memory ran out. The second makes headings bold. */
int roast__page_finish(struct roast_page *out, struct roast_buf *buf, roast_error *err);
int roast__page_finish_bold(struct roast_page *out, struct roast_buf *buf,
                            roast_error *err);

/* ---- values ------------------------------------------------------------------- */

bool roast__metric(double *value, const struct roast_page_input *input,
                   enum roast_metric metric); /* false: not known */
size_t roast__format_metric(char out[ROAST_NUMBER_BYTES], enum roast_metric metric,
                            double value); /* in the unit that users know */

/* A text, or another one where it is absent. */
static inline struct roast_str roast__text_or(struct roast_str text, const char *other)
{
    return text.data ? text : roast_str_of(other);
}

/* A cell as text, "-" where it is absent, and as a number of a grid. */
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
