/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - the pages of a summary, and the end of every page.
 *
 * The text page is ASCII without colour unless the caller wants bold headings, so that it
 * can go to a log file. */
#include <math.h>
#include <stdio.h>

#include "report/layout.h"

static int finish(struct roast_page *out, struct roast_buf *buf, const char *begin,
                  const char *end, roast_error *err)
{
    struct roast_buf page = {0};
    size_t from = 0;

    for (size_t i = 0; i <= buf->size_bytes; i++) {
        bool begins = i < buf->size_bytes && buf->data[i] == ROAST_HEADING[0];
        bool ends = i < buf->size_bytes && buf->data[i] == ROAST_HEADING_END[0];
        if (!begins && !ends && i < buf->size_bytes)
            continue;
        roast__buf_put(&page, buf->data + from, i - from);
        roast__put(&page, begins ? begin : ends ? end : "");
        from = i + 1;
    }
    size_t size_bytes = page.size_bytes;
    roast__buf_put(&page, "", 1); /* NUL-terminated for C callers */
    bool done = roast__buf_ok(buf) && roast__buf_ok(&page);
    roast__buf_release(buf);
    *out = (struct roast_page){NULL, 0};
    if (!done) {
        roast__buf_release(&page);
        return roast_error_set(err, ROAST_NO_MEMORY, "a page of %zu bytes", size_bytes);
    }
    out->text = (char *)page.data; /* moved to the caller */
    out->size_bytes = size_bytes;
    return ROAST_OK;
}

int roast__page_finish(struct roast_page *out, struct roast_buf *buf, roast_error *err)
{
    return finish(out, buf, "", "", err);
}

int roast__page_finish_bold(struct roast_page *out, struct roast_buf *buf,
                            roast_error *err)
{
    return finish(out, buf, "\033[1m", "\033[0m", err);
}

bool roast__metric(double *value, const struct roast_page_input *input,
                   enum roast_metric metric)
{
    *value = input->values->value[metric];
    return input->values->known[metric] && isfinite(*value);
}

/* ---- the order of the page --------------------------------------------------------- */

enum { SHORT_LINES = 70, CLOSING_LINES = 3, CLOSING_BYTES = 512 };
/* Of the short page: the first finding, and the budget without its bars. */
enum { FINDING_LINES = 12, BUDGET_LINES = 4, LEAST_BARS = 2, MOST_BARS = 7 };

/* A section, or a table of names where there is no function. */
static const struct {
    roast_put_section *put;
    enum roast_ranked_table table;
} sections[] = {
    {.put = roast__put_not_available},
    {.put = roast__put_failures},
    {.put = roast__put_lost_workers},
    {.put = roast__put_critical_path},
    {.put = roast__put_other_workers},
    {.table = ROAST_RANKED_calls},
    {.table = ROAST_RANKED_section_totals},
    {.table = ROAST_RANKED_datasets},
    {.put = roast__put_chunk_section},
    {.put = roast__put_reads_section},
    {.table = ROAST_RANKED_section_memory},
    {.table = ROAST_RANKED_recorded_metrics},
    {.put = roast__put_tasks},
    {.put = roast__put_hot_lines},
    {.put = roast__put_losses},
};
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

void roast__put_first_screen(struct roast_buf *buf,
                             const struct roast_page_input *input, size_t most_lines)
{
    struct roast_buf budget = {0}, below = {0};
    size_t bars = SIZE_MAX;

    roast__put_checks(&below, input);
    roast__put_remarks(&below, input);
    roast__put_headline(buf, input);
    size_t used = roast__count_lines(buf) + roast__count_lines(&below);
    if (roast__is_short(input)) {
        size_t least = used + FINDING_LINES + BUDGET_LINES;
        bars = most_lines > least + LEAST_BARS ? most_lines - least : LEAST_BARS;
        bars = bars < MOST_BARS ? bars : MOST_BARS;
    }
    roast__put_budget_section(&budget, input, bars);
    used += roast__count_lines(&budget);
    roast__put_findings_section(buf, input, most_lines > used ? most_lines - used : 0);
    roast__put_part(buf, &budget);
    roast__put_part(buf, &below);
}

/* The tables, one below the other: titles are not indented. */
static void put_tables(struct roast_buf *buf, const struct roast_page_input *input)
{
    roast__put(buf, "\n");
    for (int i = 0; i < ROAST_REPORT_TABLE_COUNT; i++) {
        enum roast_report_table table = (enum roast_report_table)i;
        struct roast_row rows[ROAST_REPORT_MAX_ROWS];
        size_t count = roast_report_rows(rows, table, input->values), kept = 0;
        for (size_t k = 0; k < count; k++) {
            if (!rows[k].more || !roast__is_short(input))
                rows[kept++] = rows[k];
        }
        if (kept > 0)
            roast__put_rows(buf, roast_report_title_of(table, input->values), rows,
                            kept, 2);
    }
}

static void put_section(struct roast_buf *buf, const struct roast_page_input *input,
                        size_t number)
{
    if (sections[number].put)
        sections[number].put(buf, input);
    else
        roast__put_ranked_table(buf, input, sections[number].table);
}

void roast__put_sections_below(struct roast_buf *buf,
                               const struct roast_page_input *input)
{
    for (size_t i = 0; i < SECTIONS; i++)
        put_section(buf, input, i);
}

/* The title of a section without its numbers, as an item of a list. */
static void list_title(char list[CLOSING_BYTES], const struct roast_buf *section)
{
    size_t used = strlen(list), size = 0;

    if (section->size_bytes < 2) /* an empty line and the mark of a heading */
        return;
    const char *title = (const char *)section->data + 2;
    while (size + 2 < section->size_bytes && title[size] != ROAST_HEADING_END[0] &&
           !(title[size] == ' ' && title[size + 1] == ' '))
        size++;
    (void)snprintf(list + used, CLOSING_BYTES - used, ", %.*s", (int)size, title);
}

/* Everything; on the short page the sections that fit, and the titles of others. */
static void put_page(struct roast_buf *buf, const struct roast_page_input *input)
{
    bool is_short = roast__is_short(input);
    struct roast_buf tables = {0};
    char others[CLOSING_BYTES] = "";

    put_tables(&tables, input);
    size_t room = is_short ? SHORT_LINES - CLOSING_LINES : SIZE_MAX;
    size_t below = roast__count_lines(&tables);
    roast__put_first_screen(buf, input, room > below ? room - below : 0);
    roast__put_part(buf, &tables);
    for (size_t i = 0; i < SECTIONS; i++) {
        struct roast_buf section = {0};
        put_section(&section, input, i);
        if (roast__count_lines(buf) + roast__count_lines(&section) <= room) {
            roast__put_part(buf, &section);
        } else {
            list_title(others, &section);
            buf->failed |= !roast__buf_ok(&section);
            roast__buf_release(&section);
        }
    }
    if (is_short) {
        roast__put(buf, "\n");
        roast__put_sentence(buf, 0, "%s shows everything: more rows%s",
                            input->heading->full_by, others);
    }
}

int roast__report_text(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err)
{
    struct roast_buf buf = {0};

    put_page(&buf, input);
    return input->heading && input->heading->bold
               ? roast__page_finish_bold(out, &buf, err)
               : roast__page_finish(out, &buf, err);
}

int roast__report_headline(struct roast_page *out, const struct roast_page_input *input,
                           roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_headline(&buf, input);
    return roast__page_finish(out, &buf, err);
}

static struct roast_page_input input_of(const roast_summary *summary,
                                        const struct roast_heading *heading)
{
    struct roast_page_input input = {.values = roast_summary_metrics(summary),
                                     .heading = heading};

    for (int id = 0; id < ROAST_TABLE_COUNT; id++)
        input.tables[id] = roast_summary_table(summary, (enum roast_table_id)id);
    return input;
}

int roast_report_text(struct roast_page *out, const roast_summary *summary,
                      const struct roast_heading *heading, roast_error *err)
{
    struct roast_page_input input = input_of(summary, heading);

    return roast__report_text(out, &input, err);
}

int roast_report_headline(struct roast_page *out, const roast_summary *summary,
                          const struct roast_heading *heading, roast_error *err)
{
    struct roast_page_input input = input_of(summary, heading);

    return roast__report_headline(out, &input, err);
}

int roast_report_card(struct roast_page *out, const roast_summary *summary,
                      const struct roast_heading *heading, roast_error *err)
{
    struct roast_page_input input = input_of(summary, heading);

    return roast__report_card(out, &input, err);
}
