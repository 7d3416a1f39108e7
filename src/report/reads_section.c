/* SPDX-License-Identifier: BSD-3-Clause */
/* reads_section.c - what the chunks read: bytes by kind, by branch and by storage. */
#include <stdio.h>

#include "report/layout.h"

enum { INDENT = 2, LINE_BYTES = 256 };

static const struct {
    enum roast_term label;
    enum roast_metric metric;
    bool metadata;
    bool rare; /* shown only if not 0 */
} byte_kinds[] = {
    {ROAST_TERM_opening, ROAST_METRIC_open_bytes, true, false},
    {ROAST_TERM_tree_metadata, ROAST_METRIC_metadata_bytes, true, false},
    {ROAST_TERM_columns, ROAST_METRIC_column_bytes, false, false},
    {ROAST_TERM_other_bytes, ROAST_METRIC_other_bytes, false, true},
    {ROAST_TERM_foreign_bytes, ROAST_METRIC_foreign_bytes, false, true},
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
                           roast__term(byte_kinds[i].label));
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
    roast__put_sentence(buf, INDENT, "storage: %s %s",
                        roast_number(requested, "B").text,
                        roast__term(ROAST_TERM_all_attempts));
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
    char title[LINE_BYTES];
    size_t size =
        (size_t)snprintf(title, sizeof(title), "%s", roast__term(ROAST_TERM_read));
    if (all > 0)
        size += (size_t)snprintf(title + size, sizeof(title) - size, "   %s",
                                 roast_number(all, "B").text);
    if (all > 0 && complete)
        (void)snprintf(title + size, sizeof(title) - size, ", %s of the bytes are %s",
                       roast_number(100 * metadata / all, "%").text,
                       roast__term(ROAST_TERM_metadata_share));
    roast__put_title(buf, title);
    size_t title_end = buf->size_bytes;
    if (all > 0)
        put_byte_kinds(buf, input);
    roast__put_ranked_table(buf, input, ROAST_RANKED_branch_costs);
    roast__put_ranked_table(buf, input, ROAST_RANKED_endpoints);
    if (all > 0)
        put_all_attempts(buf, input, all);
    if (buf->size_bytes == title_end)
        buf->size_bytes = start; /* no title without lines */
}
