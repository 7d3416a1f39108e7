/* SPDX-License-Identifier: BSD-3-Clause */
/* findings_section.c - what to change: the findings that cost most, each with its advice.
 *
 * A run with nothing wrong says so; one that nobody has looked into says nothing. */
#include <math.h>
#include <stdio.h>

#include "report/grid.h"

enum { MOST_FINDINGS = 3, INDENT = 2, LINE_BYTES = 1200, PART_BYTES = 560 };

static struct roast_str text_at(const struct roast_table *findings, size_t row,
                                const char *column)
{
    struct roast_str text = roast__text_or(roast__cell(findings, row, column), "");

    return roast_str_cut(text, PART_BYTES);
}

/* "   -> chunksize=40_000 (now 10_000); saves about 10 s" */
static void put_advice(struct roast_buf *buf, const struct roast_table *findings,
                       size_t row)
{
    struct roast_str advice = text_at(findings, row, "advice");
    double saves =
        roast__shown_number(roast__cell(findings, row, "saves_wall_seconds"));
    char line[LINE_BYTES];
    char number[ROAST_NUMBER_BYTES];

    int size =
        snprintf(line, sizeof(line), "-> %.*s", (int)advice.size_bytes, advice.data);
    if (saves > 0 && size > 0 && (size_t)size < sizeof(line)) {
        (void)roast_format_number(number, saves, "s");
        (void)snprintf(line + size, sizeof(line) - (size_t)size, "; saves about %s",
                       number);
    }
    roast__put_sentence(buf, 2 * INDENT, line);
}

static void put_finding(struct roast_buf *buf, const struct roast_table *findings,
                        size_t row)
{
    struct roast_str title = text_at(findings, row, "title");
    struct roast_str evidence = text_at(findings, row, "evidence");
    char line[LINE_BYTES];

    (void)snprintf(line, sizeof(line), "%zu %.*s: %.*s", row + 1, (int)title.size_bytes,
                   title.data, (int)evidence.size_bytes, evidence.data);
    roast__put_sentence(buf, INDENT, line);
    put_advice(buf, findings, row);
}

/* "  and: Garbage collection, Uneven datasets" */
static void put_others(struct roast_buf *buf, const struct roast_table *findings)
{
    char line[LINE_BYTES] = "and:";

    for (size_t row = MOST_FINDINGS; row < findings->row_count; row++) {
        struct roast_str title = roast_str_cut(text_at(findings, row, "title"), 80);
        size_t used = strlen(line);
        (void)snprintf(line + used, sizeof(line) - used, "%s %.*s",
                       row > MOST_FINDINGS ? "," : "", (int)title.size_bytes,
                       title.data);
    }
    if (findings->row_count > MOST_FINDINGS)
        roast__put_sentence(buf, INDENT, line);
}

static bool any_overlap(const struct roast_table *findings)
{
    for (size_t row = 0; row < findings->row_count; row++)
        if (text_at(findings, row, "overlaps").size_bytes > 0)
            return true;
    return false;
}

void roast__put_change(struct roast_buf *buf, const struct roast_shown *shown)
{
    const struct roast_table *findings = roast__find_table(shown, "findings");

    if (!findings)
        return;
    if (findings->row_count == 0) {
        bool ended = !shown->heading || !shown->heading->incomplete;
        if (ended && roast__find_table(shown, "budget")) /* else nobody knows */
            roast__put(buf, "\nWHAT TO CHANGE   nothing that would be worth it\n");
        return;
    }
    roast__put_title(buf, any_overlap(findings) ? "WHAT TO CHANGE   (savings overlap)"
                                                : "WHAT TO CHANGE");
    for (size_t row = 0; row < findings->row_count && row < MOST_FINDINGS; row++)
        put_finding(buf, findings, row);
    put_others(buf, findings);
}
