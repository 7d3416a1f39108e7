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

enum { BAR_COLUMNS = 24, INDENT = 2, LINE_BYTES = 256 };

static const char *slice_label(int slice)
{
    return roast_slice_shown((enum roast_compared_slice)slice);
}

static void put_part(struct roast_wrapped_line *line, int col, double seconds,
                     double total)
{
    roast__line_format(line, "%s %s, %s", slice_label(col - ROAST_COL_budget_import),
                       roast_number(seconds, "s").text,
                       roast_number(100 * seconds / total, "%").text);
}

void roast__put_budget_section(struct roast_buf *buf,
                               const struct roast_page_input *input, size_t most_bars)
{
    const roast_table *budget = input->tables[ROAST_TABLE_budget];
    double total = roast__row_sum(budget);
    struct roast_slices slices = {
        .table = budget,
        .first = ROAST_COL_budget_import,
        .count = ROAST_COMPARED_SLICES,
        .total = total,
        .smallest_share = roast__is_short(input) ? 0.005 : 0.0005,
        .max_bars = most_bars,
        .bar_columns = BAR_COLUMNS,
        .others_label = roast__term(ROAST_TERM_slice_others),
        .label = slice_label,
        .skipped_col = ROAST_COL_budget_unexplained,
    };

    if (!(total > 0))
        return;
    /* "WHERE THE WORKER TIME WENT   3469 thread-s = 62.0 s x 56.0 threads" */
    char title[LINE_BYTES];
    double wall_s, percent;
    size_t size = (size_t)snprintf(
        title, sizeof(title), "%s   %s", roast__term(ROAST_TERM_budget),
        roast_number(total, roast__term(ROAST_TERM_thread_s)).text);
    if (roast__metric(&wall_s, input, ROAST_METRIC_wall_time) && wall_s > 0)
        (void)snprintf(title + size, sizeof(title) - size, " = %s x %s %s",
                       roast_number(wall_s, "s").text,
                       roast_number(total / wall_s, "").text,
                       roast__term(ROAST_TERM_threads));
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

/* "versions differ in 3 of 12 processes: coffea 2025.1.0" */
static void put_versions(struct roast_wrapped_line *line,
                         const struct roast_page_input *input, double same, double all)
{
    const roast_table *hosts = input->tables[ROAST_TABLE_hosts];
    size_t row = 0;

    while (row < roast_table_rows(hosts) &&
           !roast_table_known(hosts, row, ROAST_COL_hosts_differs))
        row++;
    if (row == roast_table_rows(hosts))
        return;
    struct roast_str first = roast__cell_text(hosts, row, ROAST_COL_hosts_differs);
    roast__line_format(line, "%s differ in %s of %s processes: %.*s",
                       roast__term(ROAST_TERM_check_versions),
                       roast_number(all - same, "").text, roast_number(all, "").text,
                       (int)first.size_bytes, first.data);
}

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
            enum roast_term label;
            const char *other;
        } known[] = {
            {"cpu_seconds", ROAST_TERM_check_cpu, "Dask"},
            {"chunk_seconds", ROAST_TERM_check_chunks, "Dask"},
            {"events", ROAST_TERM_check_events, "coffea"},
            {"bytes", ROAST_TERM_check_bytes, "coffea"},
        };
        struct roast_str name = roast__cell_text(checks, row, ROAST_COL_checks_name);
        struct roast_str verdict =
            roast__cell_text(checks, row, ROAST_COL_checks_verdict);
        double off =
            fabs(roast_table_number(checks, row, ROAST_COL_checks_difference_percent));
        if (roast__str_is(name, "versions") && roast__str_is(verdict, "differs"))
            put_versions(&line, input,
                         roast_table_number(checks, row, ROAST_COL_checks_ours),
                         roast_table_number(checks, row, ROAST_COL_checks_theirs));
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (!roast__str_is(name, known[i].name) || roast__str_is(verdict, "absent"))
                continue;
            const char *label = roast__term(known[i].label);
            if (roast__str_is(verdict, "exact"))
                roast__line_format(&line, "%s = %s, exact", label, known[i].other);
            else if (roast__str_is(verdict, "agrees"))
                roast__line_format(&line, "%s = %s to %s", label, known[i].other,
                                   roast_number(fmax(off, 0.01), "%").text);
            else
                roast__line_format(&line, "%s and %s differ by %s", label,
                                   known[i].other, roast_number(off, "%").text);
        }
    }
    bool any = line.parts > 0;
    roast__line_end(&line);
    if (any) {
        roast__put(buf, "\n" ROAST_HEADING);
        roast__put(buf, roast__term(ROAST_TERM_checks));
        roast__put(buf, ROAST_HEADING_END "  ");
    }
    roast__put_part(buf, &text);
}
