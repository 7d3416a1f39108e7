/* SPDX-License-Identifier: BSD-3-Clause */
/* reads_section.c - what the chunks read: bytes by kind, by branch and by storage. */
#include <stdio.h>

#include "report/layout.h"

enum { INDENT = 2, LINE_BYTES = 256 };

static const struct {
    const char *label;
    enum roast_metric metric;
    bool metadata;
    bool rare; /* shown only if not 0 */
} byte_kinds[] = {
    {"opening", ROAST_METRIC_open_bytes, true, false},
    {"metadata", ROAST_METRIC_metadata_bytes, true, false},
    {"columns", ROAST_METRIC_column_bytes, false, false},
    {"other", ROAST_METRIC_other_bytes, false, true},
    {"from files that process() opened", ROAST_METRIC_foreign_bytes, false, true},
};
enum { BYTE_KINDS = sizeof(byte_kinds) / sizeof(byte_kinds[0]) };

static void put_byte_kinds(struct roast_buf *buf, const struct roast_page_input *input)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = INDENT, .columns = INDENT};

    for (size_t i = 0; i < BYTE_KINDS; i++) {
        double bytes;
        if (!roast__metric(&bytes, input, byte_kinds[i].metric) ||
            (byte_kinds[i].rare && bytes == 0))
            continue;
        if (line.parts == 0)
            roast__put_blanks(buf, INDENT);
        roast__line_format(&line, "%s %s", roast_number(bytes, "B").text,
                           byte_kinds[i].label);
    }
    roast__line_end(&line);
}

/* Failed attempts read from storage too; the bytes above are those of the chunks that
 * count. */
static void put_all_attempts(struct roast_buf *buf,
                             const struct roast_page_input *input, double counted)
{
    const roast_table *table = input->tables[ROAST_TABLE_endpoints];
    double attempts, successful, requested = 0;

    for (size_t row = 0; row < roast_table_rows(table); row++) {
        double bytes = roast_table_number(table, row, ROAST_COL_endpoints_bytes);
        requested += bytes > 0 ? bytes : 0;
    }
    if (!roast__metric(&attempts, input, ROAST_METRIC_num_attempts) ||
        !roast__metric(&successful, input, ROAST_METRIC_num_successful_chunks) ||
        attempts <= successful || !(requested > counted))
        return;
    roast__put_sentence(buf, INDENT,
                        "storage: %s with attempts that failed or were repeated",
                        roast_number(requested, "B").text);
}

void roast__put_reads_section(struct roast_buf *buf,
                              const struct roast_page_input *input)
{
    double all = 0, metadata = 0;
    bool complete = true; /* all kinds but the rare ones are known */
    size_t start = buf->size_bytes;

    for (size_t i = 0; i < BYTE_KINDS; i++) {
        double bytes;
        bool known = roast__metric(&bytes, input, byte_kinds[i].metric);
        complete = complete && (known || byte_kinds[i].rare);
        all += known ? bytes : 0;
        metadata += known && byte_kinds[i].metadata ? bytes : 0;
    }
    /* "READ   10.7 MB, 92 % of the bytes are metadata" */
    char title[LINE_BYTES] = "READ";
    if (all > 0 && complete)
        (void)snprintf(title, sizeof(title),
                       "READ   %s, %.0f %% of the bytes are metadata",
                       roast_number(all, "B").text, 100 * metadata / all);
    else if (all > 0)
        (void)snprintf(title, sizeof(title), "READ   %s", roast_number(all, "B").text);
    roast__put_title(buf, title);
    size_t title_end = buf->size_bytes;
    if (all > 0)
        put_byte_kinds(buf, input);
    roast__put_ranked_table(buf, input, ROAST_RANKED_BRANCHES);
    roast__put_ranked_table(buf, input, ROAST_RANKED_ENDPOINTS);
    if (all > 0)
        put_all_attempts(buf, input, all);
    if (buf->size_bytes == title_end)
        buf->size_bytes = start; /* no title without lines */
}
