/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - the page of print_summary(): first lines, the inside of the
 * chunks, the six tables, then the rest.
 *
 * No colour unless the caller asks for bold headings, and nothing but ASCII of our own,
 * so that the page survives a log file. */
#include "report/page.h"

int roast__report_text(struct roast_page *out, const struct roast_shown *shown,
                       roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_first_screen(&buf, shown);
    roast__put_chunk_section(&buf, shown);
    roast__put_reading(&buf, shown);
    roast__put_cluster(&buf, shown);
    for (int i = 0; i < ROAST_REPORT_TABLE_COUNT; i++) {
        enum roast_report_table table = (enum roast_report_table)i;
        struct roast_row rows[ROAST_REPORT_MAX_ROWS];
        size_t count = roast_report_rows(rows, table, shown->values);
        if (count != 0) {
            roast__put(&buf, "\n");
            roast__put_rows(&buf, roast_report_title_of(table, shown->values), rows,
                            count);
        }
    }
    roast__put_blocks(&buf, shown);
    return shown->heading && shown->heading->bold
               ? roast__page_finish_bold(out, &buf, err)
               : roast__page_finish(out, &buf, err);
}
