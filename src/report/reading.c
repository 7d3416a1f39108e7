/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.c - what the chunks read: bytes by kind, by branch and by storage. */
#include <stdio.h>

#include "report/blocks.h"

enum { INDENT = 2, LINE_BYTES = 256 };

static const struct {
    const char *words;
    enum roast_metric metric;
    bool metadata;
    bool rare; /* shown where there are any */
} byte_kinds[] = {
    {"opening", ROAST_METRIC_open_bytes, true, false},
    {"metadata", ROAST_METRIC_metadata_bytes, true, false},
    {"columns", ROAST_METRIC_column_bytes, false, false},
    {"other", ROAST_METRIC_other_bytes, false, true},
    {"from files that process() opened", ROAST_METRIC_foreign_bytes, false, true},
};
enum { BYTE_KINDS = sizeof(byte_kinds) / sizeof(byte_kinds[0]) };

struct read_bytes {
    double all;
    double metadata; /* of it */
    bool complete;   /* every kind but the rare ones is known */
};

static struct read_bytes add_up(const struct roast_shown *shown)
{
    struct read_bytes sum = {.complete = true};

    for (size_t i = 0; i < BYTE_KINDS; i++) {
        double bytes;
        bool known = roast__metric(&bytes, shown, byte_kinds[i].metric);
        sum.complete = sum.complete && (known || byte_kinds[i].rare);
        sum.all += known ? bytes : 0;
        sum.metadata += known && byte_kinds[i].metadata ? bytes : 0;
    }
    return sum;
}

static void put_byte_kinds(struct roast_buf *buf, const struct roast_shown *shown)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = INDENT, .columns = INDENT};

    for (size_t i = 0; i < BYTE_KINDS; i++) {
        double bytes;
        if (!roast__metric(&bytes, shown, byte_kinds[i].metric) ||
            (byte_kinds[i].rare && bytes == 0))
            continue;
        if (line.parts == 0)
            roast__put_blanks(buf, INDENT);
        roast__line_format(&line, "%s %s", roast__number(bytes, "B").text,
                           byte_kinds[i].words);
    }
    roast__line_end(&line);
}

/* Storage was asked by attempts that failed too; the bytes above are of the chunks that
 * count. */
static void put_all_attempts(struct roast_buf *buf, const struct roast_shown *shown,
                             double counted)
{
    const roast_table *table = shown->tables[ROAST_TABLE_endpoints];
    char line[LINE_BYTES];
    double attempts, successful, asked = 0;

    for (size_t row = 0; table && row < roast_table_rows(table); row++) {
        double bytes = roast_table_number(table, row, ROAST_COL_endpoints_bytes);
        asked += bytes > 0 ? bytes : 0;
    }
    if (!roast__metric(&attempts, shown, ROAST_METRIC_num_attempts) ||
        !roast__metric(&successful, shown, ROAST_METRIC_num_successful_chunks) ||
        attempts <= successful || !(asked > counted))
        return;
    (void)snprintf(line, sizeof(line),
                   "storage: %s with attempts that failed or were done again",
                   roast__number(asked, "B").text);
    roast__put_sentence(buf, INDENT, line);
}

void roast__put_reading(struct roast_buf *buf, const struct roast_shown *shown)
{
    struct read_bytes bytes = add_up(shown);
    size_t start = buf->size_bytes;

    /* "READ   10.7 MB, 92 % of the bytes are metadata" */
    char line[LINE_BYTES] = "READ";
    char number[ROAST_NUMBER_BYTES];
    (void)roast_format_number(number, bytes.all, "B");
    if (bytes.all > 0 && bytes.complete)
        (void)snprintf(line, sizeof(line),
                       "READ   %s, %.0f %% of the bytes are metadata", number,
                       100 * bytes.metadata / bytes.all);
    else if (bytes.all > 0)
        (void)snprintf(line, sizeof(line), "READ   %s", number);
    roast__put_title(buf, line);
    size_t title_end = buf->size_bytes;
    if (bytes.all > 0)
        put_byte_kinds(buf, shown);
    roast__put_group(buf, shown, ROAST_GROUP_BRANCHES);
    roast__put_group(buf, shown, ROAST_GROUP_ENDPOINTS);
    if (bytes.all > 0)
        put_all_attempts(buf, shown, bytes.all);
    if (buf->size_bytes == title_end)
        buf->size_bytes = start; /* a title over nothing */
}
