/* SPDX-License-Identifier: BSD-3-Clause */
/* findings_section.c - what to change: the first findings, each with its advice.
 *
 * A run without findings gets a line; a run without a budget gets none. */
#include <stdio.h>

#include "report/layout.h"

enum { MOST_FINDINGS = 3, INDENT = 2, LINE_BYTES = 1200, PART_BYTES = 560 };

static struct roast_str text_at(const roast_table *findings, size_t row, int col)
{
    return roast_str_cut(roast__text_or(roast_table_text(findings, row, col), ""),
                         PART_BYTES);
}

void roast__put_findings_section(struct roast_buf *buf,
                                 const struct roast_page_input *input)
{
    const roast_table *findings = input->tables[ROAST_TABLE_findings];

    if (!findings)
        return;
    if (roast_table_rows(findings) == 0) {
        bool ended = !input->heading || !input->heading->incomplete;
        if (ended && input->tables[ROAST_TABLE_budget]) /* else not known */
            roast__put_title(buf, "WHAT TO CHANGE   nothing that would be worth it");
        return;
    }
    bool overlap = false;
    for (size_t row = 0; row < roast_table_rows(findings); row++)
        overlap |= text_at(findings, row, ROAST_COL_findings_overlaps).size_bytes > 0;
    roast__put_title(buf,
                     overlap ? "WHAT TO CHANGE   (savings overlap)" : "WHAT TO CHANGE");
    for (size_t row = 0; row < roast_table_rows(findings) && row < MOST_FINDINGS;
         row++) {
        struct roast_str title = text_at(findings, row, ROAST_COL_findings_title);
        struct roast_str evidence = text_at(findings, row, ROAST_COL_findings_evidence);
        roast__put_sentence(buf, INDENT, "%zu %.*s: %.*s", row + 1,
                            (int)title.size_bytes, title.data, (int)evidence.size_bytes,
                            evidence.data);
        struct roast_str advice = text_at(findings, row, ROAST_COL_findings_advice);
        double saves =
            roast_table_number(findings, row, ROAST_COL_findings_saves_wall_seconds);
        struct roast_str when = text_at(findings, row, ROAST_COL_findings_saves_when);
        roast__put_sentence(buf, 2 * INDENT, "-> %.*s%s%s%s%.*s",
                            (int)advice.size_bytes, advice.data,
                            saves > 0 ? "; saves about " : "",
                            saves > 0 ? roast_number(saves, "s").text : "",
                            saves > 0 && when.size_bytes > 0 ? " " : "",
                            saves > 0 ? (int)when.size_bytes : 0, when.data);
    }
    char others[LINE_BYTES] = "and:";
    for (size_t row = MOST_FINDINGS; row < roast_table_rows(findings); row++) {
        struct roast_str title =
            roast_str_cut(text_at(findings, row, ROAST_COL_findings_title), 80);
        size_t used = strlen(others);
        (void)snprintf(others + used, sizeof(others) - used, "%s %.*s",
                       row > MOST_FINDINGS ? "," : "", (int)title.size_bytes,
                       title.data);
    }
    if (roast_table_rows(findings) > MOST_FINDINGS)
        roast__put_sentence(buf, INDENT, "%s", others);
}
