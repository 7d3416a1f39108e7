/* SPDX-License-Identifier: BSD-3-Clause */
/* card.c - the card that a notebook shows: the sections as on the terminal, and the
 * tables to unfold.
 *
 * Inline style, no script, nothing remote, and the colours of the theme. Texts are made
 * printable as for the terminal, then escaped. */
#include "report/page.h"

static void put_escaped(struct roast_buf *buf, const struct roast_buf *plain)
{
    buf->failed |= !roast__buf_ok(plain);
    roast__put_html(buf,
                    (struct roast_str){(const char *)plain->data, plain->size_bytes});
}

static void put_pre(struct roast_buf *buf, const struct roast_buf *plain)
{
    if (plain->size_bytes == 0 && roast__buf_ok(plain))
        return;
    roast__put(buf, "<pre style=\"margin:0;background:none;color:inherit\">");
    put_escaped(buf, plain);
    roast__put(buf, "</pre>\n");
}

static void put_html_cell(struct roast_buf *buf, const char *text)
{
    struct roast_buf plain = {0};

    (void)roast__put_text(&plain, roast_str_of(text), ROAST_PAGE_COLUMNS,
                          ROAST_CUT_END);
    /* on every cell: notebooks align each one to the right */
    roast__put(buf, "<td style=\"text-align:left;white-space:pre\">");
    put_escaped(buf, &plain);
    roast__put(buf, "</td>");
    roast__buf_release(&plain);
}

static void put_html_table(struct roast_buf *buf, enum roast_report_table table,
                           const struct roast_metric_values *values)
{
    struct roast_row rows[ROAST_REPORT_MAX_ROWS];
    size_t count = roast_report_rows(rows, table, values);

    if (count == 0)
        return;
    roast__put(buf, "<details><summary>");
    roast__put(buf, roast_report_title_of(table, values));
    roast__put(buf, "</summary>\n<table style=\"border-collapse:collapse\">\n");
    for (size_t i = 0; i < count; i++) {
        roast__put(buf, "<tr>");
        put_html_cell(buf, rows[i].label);
        put_html_cell(buf, rows[i].value);
        roast__put(buf, "</tr>\n");
    }
    roast__put(buf, "</table></details>\n");
}

int roast__report_card(struct roast_page *out, const struct roast_page_input *input,
                       roast_error *err)
{
    struct roast_buf buf = {0};
    struct roast_buf plain = {0};

    roast__put(&buf, "<div style=\"border:1px solid #8888;border-radius:4px;"
                     "padding:.6em;display:inline-block\">\n");
    roast__put_first_screen(&plain, input, SIZE_MAX);
    put_pre(&buf, &plain);
    for (int i = 0; i < ROAST_REPORT_TABLE_COUNT; i++)
        put_html_table(&buf, (enum roast_report_table)i, input->values);
    roast__buf_clear(&plain);
    roast__put_sections_below(&plain, input);
    if (plain.size_bytes > 0 || !roast__buf_ok(&plain)) {
        roast__put(&buf, "<details><summary>More</summary>\n");
        put_pre(&buf, &plain);
        roast__put(&buf, "</details>\n");
    }
    roast__put(&buf, "</div>\n");
    roast__buf_release(&plain);
    return roast__page_finish(out, &buf, err);
}
