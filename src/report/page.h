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

int roast__report_text(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err);
int roast__report_headline(struct roast_page *out, const struct roast_page_input *input,
                           roast_error *err);
int roast__report_card(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err);

void roast__put_headline(struct roast_buf *buf, const struct roast_page_input *input);
/* The headline, the findings, the budget and the checks. */
void roast__put_first_screen(struct roast_buf *buf,
                             const struct roast_page_input *input);
void roast__put_findings_section(struct roast_buf *buf,
                                 const struct roast_page_input *input);
/* Where the time of all workers went, and the comparison of our numbers with others. */
void roast__put_budget_section(struct roast_buf *buf,
                               const struct roast_page_input *input);
void roast__put_checks(struct roast_buf *buf, const struct roast_page_input *input);
/* Where the time of the chunks went, and what they read. */
void roast__put_chunk_section(struct roast_buf *buf,
                              const struct roast_page_input *input);
void roast__put_reads_section(struct roast_buf *buf,
                              const struct roast_page_input *input);
/* Lost workers, tasks and hot lines of a cluster. */
void roast__put_cluster_section(struct roast_buf *buf,
                                const struct roast_page_input *input);
/* Failures, sections, datasets, losses, reasons. */
void roast__put_details(struct roast_buf *buf, const struct roast_page_input *input);

void roast__put_rows(struct roast_buf *buf, const char *title,
                     const struct roast_row *rows, size_t count);

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
