/* SPDX-License-Identifier: BSD-3-Clause */
/* details_section.c - failures, sections, datasets, losses, and why something is missing.
 *
 * On the short page the most important rows are shown, the others are counted. */
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "report/layout.h"

enum { BRIEF_FAILURES = 3, BRIEF_REMARK_LINES = 6, NUMBER_COLUMNS = 11 };

/* ---- failures ----------------------------------------------------------------- */

static bool is_resolved(const roast_table *table, size_t row)
{
    return roast_table_flag(table, row, ROAST_COL_failures_resolved);
}

/* Attempts at one chunk that failed in the same way. */
static bool is_same_failure(const roast_table *table, size_t a, size_t b)
{
    static const int texts[] = {
        ROAST_COL_failures_dataset, ROAST_COL_failures_file, ROAST_COL_failures_status,
        ROAST_COL_failures_error_type, ROAST_COL_failures_error_message};

    for (int col = ROAST_COL_failures_entry_start; col <= ROAST_COL_failures_entry_stop;
         col++) {
        int64_t left = -1, right = -1;
        (void)roast_table_int(&left, table, a, col);
        (void)roast_table_int(&right, table, b, col);
        if (left != right)
            return false;
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct roast_str left = roast_table_text(table, a, texts[i]);
        struct roast_str right = roast_table_text(table, b, texts[i]);
        if (!left.data != !right.data || !roast__str_equal(left, right))
            return false;
    }
    return is_resolved(table, a) == is_resolved(table, b);
}

/* `same`: how many rows are the same failure. */
static void put_failure(struct roast_grid *grid, const roast_table *table, size_t row,
                        size_t same)
{
    char text[64] = "-";
    int64_t start, stop;

    roast__grid_put(grid, roast__cell_text(table, row, ROAST_COL_failures_file));
    if (roast_table_int(&start, table, row, ROAST_COL_failures_entry_start) &&
        roast_table_int(&stop, table, row, ROAST_COL_failures_entry_stop) &&
        stop > start) /* else the whole file */
        (void)snprintf(text, sizeof(text), "%" PRId64 "-%" PRId64, start, stop);
    roast__grid_put(grid, roast_str_of(text));
    (void)snprintf(text, sizeof(text), "x %s", roast_number((double)same, "").text);
    if (same == 1)
        roast__grid_put_cell(grid, table, row, ROAST_COL_failures_attempt, "");
    else
        roast__grid_put(grid, roast_str_of(text));
    /* "OSError: no such file", or "lost". */
    struct roast_str message =
        roast_table_text(table, row, ROAST_COL_failures_error_message);
    struct roast_str type = roast_table_text(table, row, ROAST_COL_failures_error_type);
    struct roast_str status = roast__text_or(
        roast_table_text(table, row, ROAST_COL_failures_status), "failed");
    struct roast_buf error = {0};
    (void)roast__put_text(&error, type.data ? type : status, ROAST_PAGE_COLUMNS,
                          ROAST_CUT_END);
    if (message.size_bytes > 0) {
        roast__put(&error, ": ");
        (void)roast__put_text(&error, message, ROAST_PAGE_COLUMNS, ROAST_CUT_END);
    }
    grid->text.failed |= !roast__buf_ok(&error);
    roast__grid_put(grid,
                    (struct roast_str){(const char *)error.data, error.size_bytes});
    roast__buf_release(&error);
}

/* Shows each failure once, resolved ones last. Returns the number of rows covered. */
static size_t put_failure_rows(struct roast_grid *grid, const roast_table *table,
                               size_t most)
{
    size_t shown[ROAST_FULL_ROWS], count = 0, covered = 0;

    for (int resolved = 0; resolved <= 1; resolved++) {
        for (size_t row = 0; row < roast_table_rows(table) && count < most; row++) {
            size_t same = 0, i = 0;
            if (is_resolved(table, row) != (resolved == 1))
                continue;
            while (i < count && !is_same_failure(table, shown[i], row))
                i++;
            if (i < count)
                continue;
            for (size_t other = row; other < roast_table_rows(table); other++)
                same += is_same_failure(table, row, other);
            put_failure(grid, table, row, same);
            shown[count++] = row;
            covered += same;
        }
    }
    return covered;
}

void roast__put_failures(struct roast_buf *buf, const struct roast_page_input *input)
{
    const struct roast_grid_column columns[] = {
        {.heading = roast__term(ROAST_TERM_failed_in),
         .max_columns = 24,
         .cut = ROAST_CUT_MIDDLE},
        {.heading = roast__term(ROAST_TERM_entries),
         .max_columns = 21,
         .cut = ROAST_CUT_MIDDLE},
        {.heading = roast__term(ROAST_TERM_try), .max_columns = 6, .right = true},
        {.heading = roast__term(ROAST_TERM_error)},
    };
    const roast_table *table = input->tables[ROAST_TABLE_failures];
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    size_t resolved = 0;

    if (roast_table_rows(table) == 0)
        return;
    for (size_t row = 0; row < roast_table_rows(table); row++)
        resolved += is_resolved(table, row);
    roast__put_title(buf, roast__term(ROAST_TERM_failures));
    size_t rows =
        put_failure_rows(&grid, table, roast__most_rows(input, BRIEF_FAILURES));
    roast__grid_write(buf, &grid);
    roast__put_more(buf, input, roast_table_rows(table), rows);
    if (resolved > 0)
        roast__put_line(buf, "  %zu %s", resolved, roast__term(ROAST_TERM_resolved));
    roast__grid_release(&grid);
}

/* ---- losses and reasons ------------------------------------------------------- */

void roast__put_losses(struct roast_buf *buf, const struct roast_page_input *input)
{
    static const struct roast_grid_column columns[] = {
        {.max_columns = NUMBER_COLUMNS, .right = true},
        {0},
    };
    const roast_table *table = input->tables[ROAST_TABLE_losses];
    struct roast_grid grid = {.columns = columns, .column_count = 2};

    if (roast_table_rows(table) == 0)
        return;
    for (size_t row = 0; row < roast_table_rows(table); row++) {
        double lost = roast_table_number(table, row, ROAST_COL_losses_count);
        struct roast_str meaning =
            roast_table_text(table, row, ROAST_COL_losses_meaning);
        if (!(lost > 0))
            continue;
        roast__grid_put_number(&grid, lost, "");
        roast__grid_put(
            &grid, meaning.data ? meaning
                                : roast_table_text(table, row, ROAST_COL_losses_name));
    }
    if (grid.cells.size_bytes > 0)
        roast__put_title(buf, roast__term(ROAST_TERM_losses));
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

/* ---- remarks and reasons ------------------------------------------------------ */

/* On the short page the first remark is whole, others only if they fit. */
static void put_each_remark(struct roast_buf *buf, const struct roast_page_input *input)
{
    struct roast_str rest =
        input->heading ? input->heading->remarks : (struct roast_str){NULL, 0};
    size_t lines = 0, hidden = 0;

    if (rest.size_bytes > 0)
        roast__put_title(buf, roast__term(ROAST_TERM_remarks));
    while (rest.size_bytes > 0) {
        struct roast_buf remark = {0};
        const char *end = memchr(rest.data, '\n', rest.size_bytes);
        size_t size = end ? (size_t)(end - rest.data) : rest.size_bytes;
        struct roast_str text = roast_str_cut((struct roast_str){rest.data, size}, 511);
        roast__put_sentence(&remark, 2, "%.*s", (int)text.size_bytes, text.data);
        size_t more = roast__count_lines(&remark);
        if (lines > 0 && lines + more > roast__most_rows(input, BRIEF_REMARK_LINES)) {
            roast__buf_release(&remark);
            hidden++;
        } else {
            roast__put_part(buf, &remark);
            lines += more;
        }
        rest.data += size + (end != NULL);
        rest.size_bytes -= size + (end != NULL);
    }
    roast__put_more(buf, input, hidden, 0);
}

void roast__put_remarks(struct roast_buf *buf, const struct roast_page_input *input)
{
    double errors;

    put_each_remark(buf, input);
    if (!roast__metric(&errors, input, ROAST_METRIC_monitor_errors) || errors == 0)
        return;
    roast__put(buf, "\n" ROAST_HEADING);
    roast__put(buf, roast__term(ROAST_TERM_monitor_errors));
    roast__put(buf, ROAST_HEADING_END ": ");
    roast__put_line(buf, "%s", roast_number(errors, "").text);
    if (!input->heading || input->heading->first_error.size_bytes == 0)
        return;
    struct roast_str first = roast_str_cut(input->heading->first_error, 320);
    /* a sentence, not a line: the advice is at its end */
    roast__put_sentence(buf, 2, "first: %.*s", (int)first.size_bytes, first.data);
}

/* The most important metrics; metrics() has the reasons of all others. */
void roast__put_not_available(struct roast_buf *buf,
                              const struct roast_page_input *input)
{
    static const struct {
        enum roast_metric metric;
        const char *label;
    } wanted[] = {
        {ROAST_METRIC_total_events, "events"},
        {ROAST_METRIC_total_bytes_read, "bytes read"},
        {ROAST_METRIC_num_chunks, "number of chunks"},
        {ROAST_METRIC_time_avg_workers, "workers"},
        {ROAST_METRIC_total_cpu_time, "time in process()"},
        {ROAST_METRIC_chunk_duration_mean, "time per chunk"},
        {ROAST_METRIC_peak_memory_bytes, "memory"},
    };
    bool any = false;

    if (roast__is_command(input->values))
        return;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *why = input->values->why[wanted[i].metric];
        double value;
        if (roast__metric(&value, input, wanted[i].metric) || !why)
            continue;
        if (!any)
            roast__put_title(buf, roast__term(ROAST_TERM_not_available));
        any = true;
        roast__put_sentence(buf, 2, "%s: %s", wanted[i].label, why);
    }
}
