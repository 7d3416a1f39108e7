/* SPDX-License-Identifier: BSD-3-Clause */
/* paragraph.c - the findings in one paragraph.
 *
 * Where the worker time went, the first thing to change with its numbers, and the names
 * of the others. A run without findings gets a sentence too. */
#include "analyze/findings/paragraph.h"

#include "analyze/findings/rule_limits.h"
#include "base/buf.h"
#include "roast/number.h"

enum { MOST_SLICES = 3, MOST_OTHERS = 4 };

static const char *const shown[ROAST_SLICES] = {
#define S(name, shown, text) shown,
#include "roast/budget_slices.def"
#undef S
};

static void put(struct roast_buf *out, const char *text)
{
    roast__buf_put(out, text, strlen(text));
}

static void put_text(struct roast_buf *out, const roast_table *table, size_t row,
                     int col)
{
    struct roast_str text = roast_table_text(table, row, col);

    if (text.data)
        roast__buf_put(out, text.data, text.size_bytes);
}

static void put_number(struct roast_buf *out, double value, const char *unit)
{
    char text[ROAST_NUMBER_BYTES];
    size_t size = roast_format_number(text, value, unit);

    roast__buf_put(out, text, size);
}

/* ---- sentences ------------------------------------------------------------------- */

static void put_time(struct roast_buf *out, const struct roast_rule_input *at)
{
    put(out, "Of ");
    put_number(out, at->offered_s, "s");
    put(out, " of worker time (");
    put_number(out, at->wall_s, "s");
    put(out, " x ");
    put_number(out, at->threads, "");
    put(out, fabs(at->threads - 1) < 0.005 ? " thread) " : " threads) ");
    /* The largest slices, in order. */
    uint64_t listed = 0;
    for (int count = 0; count < MOST_SLICES; count++) {
        int largest = -1;
        for (int i = 0; i < ROAST_SLICES; i++) {
            if (!((listed >> i) & 1) && at->slices[i] > 0 &&
                (largest < 0 || at->slices[i] > at->slices[largest]))
                largest = i;
        }
        if (largest < 0)
            break;
        listed |= UINT64_C(1) << largest;
        put(out, count > 0 ? ", " : "");
        put_number(out, at->slices[largest] / at->offered_s * 100, "%");
        put(out, " ");
        put(out, shown[largest]);
    }
    put(out, ".");
}

static const roast_table *findings_of(const struct roast_rule_input *at)
{
    return at->ctx->summary->tables[ROAST_TABLE_findings];
}

static void put_saving(struct roast_buf *out, const struct roast_rule_input *at,
                       size_t row)
{
    double saves_s =
        roast_table_number(findings_of(at), row, ROAST_COL_findings_saves_wall_seconds);

    if (!(saves_s * 100 >= LIMIT_SHOWN_PERCENT * at->wall_s))
        return;
    put(out, " (saves about ");
    put_number(out, saves_s, "s");
    put(out, ")");
}

static bool any_overlap(const roast_table *findings)
{
    for (size_t row = 0; row < roast_table_rows(findings); row++) {
        if (roast_table_text(findings, row, ROAST_COL_findings_overlaps).size_bytes > 0)
            return true;
    }
    return false;
}

static void put_first(struct roast_buf *out, const struct roast_rule_input *at)
{
    const roast_table *findings = findings_of(at);

    put(out, "First: ");
    put_text(out, findings, 0, ROAST_COL_findings_title);
    put(out, ": ");
    put_text(out, findings, 0, ROAST_COL_findings_evidence);
    put(out, ". Advice: ");
    put_text(out, findings, 0, ROAST_COL_findings_advice);
    put_saving(out, at, 0);
    put(out, ".");
}

static void put_others(struct roast_buf *out, const struct roast_rule_input *at)
{
    const roast_table *findings = findings_of(at);

    put(out, " Then: ");
    for (size_t row = 1; row < roast_table_rows(findings) && row <= MOST_OTHERS;
         row++) {
        put(out, row > 1 ? "; " : "");
        put_text(out, findings, row, ROAST_COL_findings_title);
        put_saving(out, at, row);
    }
    if (roast_table_rows(findings) > MOST_OTHERS + 1)
        put(out, "; ...");
    put(out, any_overlap(findings) ? ". Savings overlap." : ".");
}

void roast__put_paragraph(const struct roast_rule_input *at)
{
    struct roast_summary *summary = at->ctx->summary;
    roast_table *table = roast__summary_open(summary, ROAST_TABLE_verdict);
    struct roast_buf text = {0};

    const roast_table *findings = findings_of(at);
    bool timed = at->offered_s > 0;
    if (roast_table_rows(findings) > 0) {
        put_first(&text, at);
        if (roast_table_rows(findings) > 1)
            put_others(&text, at);
    } else if (at->ctx->run->attempts.count == 0) {
        put(&text, "No chunk was seen, so there is nothing to judge.");
    } else if (timed) {
        put(&text, "Nothing to change: no rule found anything worth it.");
    } else {
        put(&text,
            "Nothing failed. The number of threads is not known, so the time cannot "
            "be judged.");
    }
    if (timed) {
        put(&text, " ");
        put_time(&text, at);
    }
    summary->failed |= !roast__buf_ok(&text);
    roast__table_row(table);
    roast__fill_text(table, ROAST_COL_verdict_verdict,
                     (struct roast_str){(const char *)text.data, text.size_bytes});
    roast__buf_release(&text);
}
