/* SPDX-License-Identifier: BSD-3-Clause */
/* path_section.c - what set the wall time: the critical path, and other numbers of
 * workers. Both are on the full page only. */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "report/layout.h"

enum { INDENT = 2 };

/* ---- the critical path ----------------------------------------------------------- */

static enum roast_term term_of(struct roast_str part)
{
    static const struct {
        const char *part;
        enum roast_term term;
    } known[] = {
        {"chunk", ROAST_TERM_wall_chunks},
        {"preprocess", ROAST_TERM_wall_preprocess},
        {"reduce", ROAST_TERM_wall_merge},
        {"merge", ROAST_TERM_wall_merge},
        {"before", ROAST_TERM_wall_client},
        {"between", ROAST_TERM_wall_client},
        {"after", ROAST_TERM_wall_client},
        {"pool start", ROAST_TERM_wall_pool_start},
        {"pool stop", ROAST_TERM_wall_pool_stop},
        {"postprocess", ROAST_TERM_wall_postprocess},
        {"roastcoffea", ROAST_TERM_wall_monitor},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (roast__str_is(part, known[i].part))
            return known[i].term;
    return ROAST_TERM_path_others;
}

/* The seconds of the steps of a term; *count: how many steps. */
static double sum_of(const roast_table *path, enum roast_term term, double *count)
{
    double seconds = 0;

    *count = 0;
    for (size_t row = 0; row < roast_table_rows(path); row++) {
        if (term == ROAST_TERM_path_waits) {
            seconds += roast_table_number(path, row, ROAST_COL_critical_path_waited);
        } else if (term_of(roast__cell_text(path, row, ROAST_COL_critical_path_part)) ==
                   term) {
            seconds += roast_table_number(path, row, ROAST_COL_critical_path_seconds);
            *count += roast_table_number(path, row, ROAST_COL_critical_path_count);
        }
    }
    return seconds;
}

void roast__put_critical_path(struct roast_buf *buf,
                              const struct roast_page_input *input)
{
    static const enum roast_term terms[] = {
        ROAST_TERM_wall_chunks,      ROAST_TERM_path_waits,
        ROAST_TERM_wall_preprocess,  ROAST_TERM_wall_merge,
        ROAST_TERM_wall_client,      ROAST_TERM_wall_pool_start,
        ROAST_TERM_wall_postprocess, ROAST_TERM_wall_pool_stop,
        ROAST_TERM_wall_monitor,     ROAST_TERM_path_others,
    };
    const roast_table *path = input->tables[ROAST_TABLE_critical_path];
    struct roast_wrapped_line line = {.buf = buf, .indent = INDENT, .columns = INDENT};

    if (roast_table_rows(path) == 0 || roast__is_short(input))
        return;
    roast__put_title(buf, roast__term(ROAST_TERM_critical_path));
    roast__put_blanks(buf, INDENT);
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        double count, seconds = sum_of(path, terms[i], &count);
        char of[ROAST_NUMBER_BYTES + 4] = "";
        if (!(seconds > 0))
            continue;
        if (terms[i] == ROAST_TERM_wall_chunks)
            (void)snprintf(of, sizeof(of), " (%s)", roast_number(count, "").text);
        roast__line_format(&line, "%s %s%s", roast_number(seconds, "s").text,
                           roast__term(terms[i]), of);
    }
    roast__line_end(&line);
}

/* ---- other numbers of workers ---------------------------------------------------- */

void roast__put_other_workers(struct roast_buf *buf,
                              const struct roast_page_input *input)
{
    const roast_table *table = input->tables[ROAST_TABLE_other_workers];
    double now;

    if (roast_table_rows(table) == 0 || roast__is_short(input) ||
        !roast__metric(&now, input, ROAST_METRIC_peak_workers))
        return;
    roast__put_title(buf, roast__term(ROAST_TERM_other_workers));
    for (size_t row = 0; row < roast_table_rows(table); row++) {
        double workers =
            roast_table_number(table, row, ROAST_COL_other_workers_workers);
        double wall_s =
            roast_table_number(table, row, ROAST_COL_other_workers_wall_seconds);
        double longer =
            roast_table_number(table, row, ROAST_COL_other_workers_longer_percent);
        double more =
            roast_table_number(table, row, ROAST_COL_other_workers_more_percent);
        bool fewer = workers < now;
        roast__put_sentence(
            buf, INDENT, "%s instead of %s workers: %s %s, %s %s%s; %s %s core-hours",
            roast_number(workers, "").text, roast_number(now, "").text,
            roast__term(fewer ? ROAST_TERM_at_most : ROAST_TERM_at_least),
            roast_number(wall_s, "s").text, roast_number(fabs(longer), "%").text,
            longer < 0 ? "shorter" : "longer",
            fewer ? "" : ", if storage and network are as fast for all of them",
            roast_number(fabs(more), "%").text, more < 0 ? "fewer" : "more");
    }
}
