/* SPDX-License-Identifier: BSD-3-Clause */
/* findings_section.c - what to change: the findings, each with its advice.
 *
 * The short page has the first one whole, two more if they fit, and the titles of others.
 * A run without findings gets a line; a run without a budget gets none. */
#include <stdio.h>

#include "report/layout.h"

enum { BRIEF_FINDINGS = 3, MOST_TITLES = 3, TITLE_LINES = 2, OTHER_LINES = 2 };
enum { INDENT = 2, LINE_BYTES = 512, PART_BYTES = 560 };

static struct roast_str text_at(const roast_table *findings, size_t row, int col)
{
    return roast_str_cut(roast__text_or(roast_table_text(findings, row, col), ""),
                         PART_BYTES);
}

static void put_finding(struct roast_buf *buf, const roast_table *findings, size_t row)
{
    struct roast_str title = text_at(findings, row, ROAST_COL_findings_title);
    struct roast_str evidence = text_at(findings, row, ROAST_COL_findings_evidence);
    struct roast_str advice = text_at(findings, row, ROAST_COL_findings_advice);
    struct roast_str saving = text_at(findings, row, ROAST_COL_findings_saving);
    bool saves = saving.size_bytes > 0;

    roast__put_sentence(buf, INDENT, "%zu %.*s: %.*s", row + 1, (int)title.size_bytes,
                        title.data, (int)evidence.size_bytes, evidence.data);
    roast__put_sentence(buf, 2 * INDENT, "-> %.*s%s%s%s%.*s", (int)advice.size_bytes,
                        advice.data, saves ? "; " : "",
                        saves ? roast__term(ROAST_TERM_saves) : "", saves ? " " : "",
                        (int)saving.size_bytes, saving.data);
}

/* "and: Last chunks, Garbage collection, 2 more: full=True" */
static void put_others(struct roast_buf *buf, const struct roast_page_input *input,
                       const roast_table *findings, size_t first)
{
    size_t rows = roast_table_rows(findings);
    char text[LINE_BYTES];
    size_t used =
        (size_t)snprintf(text, sizeof(text), "%s:", roast__term(ROAST_TERM_others));

    for (size_t row = first; row < rows && row < first + MOST_TITLES; row++) {
        struct roast_str title =
            roast_str_cut(text_at(findings, row, ROAST_COL_findings_title), 80);
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s %.*s",
                             row > first ? "," : "", (int)title.size_bytes, title.data);
    }
    if (rows > first + MOST_TITLES)
        (void)snprintf(text + used, sizeof(text) - used, ", %zu more",
                       rows - first - MOST_TITLES);
    if (rows > first)
        roast__put_sentence(buf, INDENT, "%s: %s", text, input->heading->full_by);
}

void roast__put_findings_section(struct roast_buf *buf,
                                 const struct roast_page_input *input,
                                 size_t most_lines)
{
    const roast_table *findings = input->tables[ROAST_TABLE_findings];
    size_t rows = roast_table_rows(findings);
    size_t lines = TITLE_LINES, row = 0;
    bool overlap = false;
    char title[LINE_BYTES];

    if (!findings)
        return;
    const char *change = roast__term(ROAST_TERM_change);
    if (rows == 0) {
        bool ended = !input->heading || !input->heading->incomplete;
        (void)snprintf(title, sizeof(title), "%s   nothing that would be worth it",
                       change);
        if (ended && input->tables[ROAST_TABLE_budget]) /* else not known */
            roast__put_title(buf, title);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        overlap |= text_at(findings, i, ROAST_COL_findings_overlaps).size_bytes > 0;
    (void)snprintf(title, sizeof(title), "%s   (%s)", change,
                   roast__term(ROAST_TERM_overlap));
    roast__put_title(buf, overlap ? title : change);
    for (; row < roast__most_rows(input, BRIEF_FINDINGS) && row < rows; row++) {
        struct roast_buf finding = {0};
        put_finding(&finding, findings, row);
        lines += roast__count_lines(&finding);
        size_t needed = lines + (row + 1 < rows ? OTHER_LINES : 0);
        if (row > 0 && needed > most_lines) {
            roast__buf_release(&finding);
            break;
        }
        roast__put_part(buf, &finding);
    }
    if (row < rows && roast__is_short(input))
        put_others(buf, input, findings, row);
}
