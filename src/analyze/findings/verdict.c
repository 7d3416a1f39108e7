/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - the findings in one paragraph.
 *
 * The first finding with its numbers, the titles of the others, and the largest slices of
 * the worker time. A run without findings gets a sentence too. */
#include <stdarg.h>
#include <stdio.h>

#include "analyze/findings/findings.h"
#include "analyze/findings/rule_limits.h"
#include "base/buf.h"
#include "roast/number.h"

enum { MOST_SLICES = 3, MOST_OTHERS = 4 };

static const char *const slice_labels[ROAST_SLICES] = {
#define S(name, shown, text) shown,
#include "roast/budget_slices.def"
#undef S
};

__attribute__((format(printf, 2, 3))) static void put(struct roast_buf *out,
                                                      const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    roast__buf_put(out, text, strlen(text));
}

static void put_cell(struct roast_buf *out, const roast_table *table, size_t row,
                     int col)
{
    struct roast_str text = roast_table_text(table, row, col);

    if (text.data)
        roast__buf_put(out, text.data, text.size_bytes);
}

static void put_saving(struct roast_buf *out, const roast_table *findings, size_t row)
{
    struct roast_str saving =
        roast_table_text(findings, row, ROAST_COL_findings_saving);

    if (saving.data)
        put(out, " (saves %.*s)", (int)saving.size_bytes, saving.data);
}

static void put_findings(struct roast_buf *out, const roast_table *findings)
{
    size_t rows = roast_table_rows(findings);
    bool overlap = false;

    put(out, "First: ");
    put_cell(out, findings, 0, ROAST_COL_findings_title);
    put(out, ": ");
    put_cell(out, findings, 0, ROAST_COL_findings_evidence);
    put(out, ". Advice: ");
    put_cell(out, findings, 0, ROAST_COL_findings_advice);
    put_saving(out, findings, 0);
    put(out, ".");
    if (rows == 1)
        return;
    for (size_t row = 1; row < rows && row <= MOST_OTHERS; row++) {
        put(out, row == 1 ? " Then: " : "; ");
        put_cell(out, findings, row, ROAST_COL_findings_title);
        put_saving(out, findings, row);
    }
    if (rows > MOST_OTHERS + 1)
        put(out, "; ...");
    for (size_t row = 0; row < rows; row++)
        overlap |=
            roast_table_text(findings, row, ROAST_COL_findings_overlaps).size_bytes > 0;
    put(out, overlap ? ". Savings overlap." : ".");
}

/* " Of 3469 s of worker time (62.0 s x 56.0 threads) 40 % computing, ..." */
static void put_largest_slices(struct roast_buf *out,
                               const struct roast_rule_input *input)
{
    const double *slices = input->slices;
    uint64_t listed = 0;

    put(out, " Of %s of worker time (%s x %s thread%s) ",
        roast_number(input->offered_s, "s").text, roast_number(input->wall_s, "s").text,
        roast_number(input->threads, "").text,
        fabs(input->threads - 1) < 0.005 ? "" : "s");
    for (int count = 0; count < MOST_SLICES; count++) {
        int largest = -1;
        for (int i = 0; i < ROAST_SLICES; i++) {
            if (!((listed >> i) & 1) && slices[i] > 0 &&
                (largest < 0 || slices[i] > slices[largest]))
                largest = i;
        }
        if (largest < 0)
            break;
        listed |= UINT64_C(1) << largest;
        put(out, "%s%s %s", count > 0 ? ", " : "",
            roast_number(slices[largest] / input->offered_s * 100, "%").text,
            slice_labels[largest]);
    }
    put(out, ".");
}

void roast__write_verdict(const struct roast_rule_input *input)
{
    struct roast_summary *summary = input->ctx->summary;
    const roast_table *findings = summary->tables[ROAST_TABLE_findings];
    roast_table *table = roast__summary_open(summary, ROAST_TABLE_verdict);
    struct roast_buf text = {0};
    bool timed = input->offered_s > 0;

    if (roast_table_rows(findings) > 0)
        put_findings(&text, findings);
    else if (input->ctx->run->attempts.count == 0)
        put(&text, "No chunk was measured, so there is nothing to judge.");
    else if (timed)
        put(&text, "Nothing to change: no rule found anything worth it.");
    else
        put(&text, "Nothing failed. The number of threads is not known, so the time "
                   "cannot be judged.");
    if (timed)
        put_largest_slices(&text, input);
    summary->failed |= !roast__buf_ok(&text);
    roast__table_row(table);
    roast__fill_text(table, ROAST_COL_verdict_verdict,
                     (struct roast_str){(const char *)text.data, text.size_bytes});
    roast__buf_release(&text);
}
