/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - the pages of a summary, and the end of every page.
 *
 * The text page is ASCII without colour unless the caller wants bold headings, so that it
 * can go to a log file. */
#include "report/page.h"

#include <math.h>

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

int roast__report_text(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_first_screen(&buf, input);
    roast__put_chunk_section(&buf, input);
    roast__put_reads_section(&buf, input);
    roast__put_cluster_section(&buf, input);
    for (int i = 0; i < ROAST_REPORT_TABLE_COUNT; i++) {
        enum roast_report_table table = (enum roast_report_table)i;
        struct roast_row rows[ROAST_REPORT_MAX_ROWS];
        size_t count = roast_report_rows(rows, table, input->values);
        if (count == 0)
            continue;
        roast__put(&buf, "\n");
        roast__put_rows(&buf, roast_report_title_of(table, input->values), rows, count);
    }
    roast__put_details(&buf, input);
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
