/* SPDX-License-Identifier: BSD-3-Clause */
/* budget_section.c - where the worker time went: the budget as bars, and the checks of our
 * numbers against other sources.
 *
 * The unexplained time and our own cost are always shown, however small. */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "report/slice_bars.h"
#include "roast/compare.h"

enum { MOST_SLICES = 9, INDENT = 2, LINE_BYTES = 256 };

static const char *slice_label(int slice)
{
    return roast_slice_shown((enum roast_compared_slice)slice);
}

static void put_part(struct roast_wrapped_line *line, int col, double seconds,
                     double total)
{
    roast__line_format(line, "%s %s, %.2g %%",
                       slice_label(col - ROAST_COL_budget_import),
                       roast_number(seconds, "s").text, 100 * seconds / total);
}

void roast__put_budget_section(struct roast_buf *buf,
                               const struct roast_page_input *input)
{
    const roast_table *budget = input->tables[ROAST_TABLE_budget];
    double total = roast__row_sum(budget);
    struct roast_slices slices = {
        .table = budget,
        .first = ROAST_COL_budget_import,
        .count = ROAST_COMPARED_SLICES,
        .total = total,
        .smallest_share = 0.005,
        .max_bars = MOST_SLICES,
        .bar_columns = 28,
        .others_label = "others",
        .label = slice_label,
        .skipped_col = ROAST_COL_budget_unexplained,
    };

    if (!(total > 0))
        return;
    /* "WHERE THE WORKER TIME WENT   3469 thread-s = 62.0 s x 56.0 threads" */
    char title[LINE_BYTES];
    double wall_s, percent;
    const char *pattern = total < 100   ? "WHERE THE WORKER TIME WENT   %.1f thread-s"
                          : total < 1e7 ? "WHERE THE WORKER TIME WENT   %.0f thread-s"
                                        : "WHERE THE WORKER TIME WENT   %.3g thread-s";
    size_t size = (size_t)snprintf(title, sizeof(title), pattern, total);
    if (roast__metric(&wall_s, input, ROAST_METRIC_wall_time) && wall_s > 0)
        (void)snprintf(title + size, sizeof(title) - size, " = %s x %s threads",
                       roast_number(wall_s, "s").text,
                       roast_number(total / wall_s, "").text);
    roast__put_title(buf, title);
    roast__put_slices(buf, &slices);
    /* "not explained 18.0 s, 0.5 % | roastcoffea itself 1.00 s, 0.0 %". The first is the
     * metric, which also has the time that is in no slice. */
    struct roast_wrapped_line line = {.buf = buf, .indent = INDENT, .columns = INDENT};
    roast__put_blanks(buf, INDENT);
    if (roast__metric(&percent, input, ROAST_METRIC_unexplained_percent))
        put_part(&line, ROAST_COL_budget_unexplained, percent / 100 * total, total);
    put_part(&line, ROAST_COL_budget_monitor,
             roast__positive(roast_table_number(budget, 0, ROAST_COL_budget_monitor)),
             total);
    roast__line_end(&line);
}

/* ---- checks ---------------------------------------------------------------------- */

void roast__put_checks(struct roast_buf *buf, const struct roast_page_input *input)
{
    const roast_table *checks = input->tables[ROAST_TABLE_checks];
    struct roast_buf text = {0};
    struct roast_wrapped_line line = {.buf = &text, .indent = 8, .columns = 8};

    for (size_t row = 0; row < roast_table_rows(checks); row++) {
        /* "CPU = Dask to 0.04 %", "events = coffea, exact", "bytes differ from
         * coffea by 3 %" */
        static const struct {
            const char *name;
            const char *label;
            const char *other;
        } known[] = {
            {"cpu_seconds", "CPU", "Dask"},
            {"chunk_seconds", "chunk seconds", "Dask"},
            {"events", "events", "coffea"},
            {"bytes", "bytes", "coffea"},
        };
        struct roast_str name = roast__cell_text(checks, row, ROAST_COL_checks_name);
        struct roast_str verdict =
            roast__cell_text(checks, row, ROAST_COL_checks_verdict);
        double off =
            fabs(roast_table_number(checks, row, ROAST_COL_checks_difference_percent));
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (!roast__str_is(name, known[i].name) || roast__str_is(verdict, "absent"))
                continue;
            if (roast__str_is(verdict, "exact"))
                roast__line_format(&line, "%s = %s, exact", known[i].label,
                                   known[i].other);
            else if (roast__str_is(verdict, "agrees"))
                roast__line_format(&line, "%s = %s to %.2g %%", known[i].label,
                                   known[i].other, fmax(off, 0.01));
            else
                roast__line_format(&line, "%s and %s differ by %.2g %%", known[i].label,
                                   known[i].other, off);
        }
    }
    bool any = line.parts > 0;
    roast__line_end(&line);
    if (any) {
        roast__put(buf, "\n" ROAST_HEADING "CHECKS" ROAST_HEADING_END "  ");
        roast__buf_put(buf, text.data, text.size_bytes);
    }
    buf->failed |= !roast__buf_ok(&text);
    roast__buf_release(&text);
}
