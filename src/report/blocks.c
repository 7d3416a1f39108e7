/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - what the six tables do not hold: failures, sections, datasets, losses, and
 * why something is missing.
 *
 * Each block is bounded: the rows that matter most are shown, the rest is counted. */
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "report/blocks.h"

enum { MAX_FAILURES = 10, NUMBER_COLUMNS = 11 };

/* ---- failures ----------------------------------------------------------------- */

static bool is_resolved(const roast_table *table, size_t row)
{
    return roast_table_flag(table, row, ROAST_COL_failures_resolved);
}

/* Tries at one chunk that failed in the same way. */
static bool same_failure(const roast_table *table, size_t a, size_t b)
{
    static const int texts[] = {
        ROAST_COL_failures_dataset, ROAST_COL_failures_file, ROAST_COL_failures_status,
        ROAST_COL_failures_error_type, ROAST_COL_failures_error_message};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct roast_str left = roast_table_text(table, a, texts[i]);
        struct roast_str right = roast_table_text(table, b, texts[i]);
        if (!left.data != !right.data || !roast__str_equal(left, right))
            return false;
    }
    for (int col = ROAST_COL_failures_entry_start; col <= ROAST_COL_failures_entry_stop;
         col++) {
        int64_t left = -1, right = -1;
        (void)roast_table_int(&left, table, a, col);
        (void)roast_table_int(&right, table, b, col);
        if (left != right)
            return false;
    }
    return is_resolved(table, a) == is_resolved(table, b);
}

/* Which try it was, or how often the same was tried: "x 4". */
static void put_tries(struct roast_grid *grid, const roast_table *table, size_t row,
                      size_t count)
{
    char text[ROAST_NUMBER_BYTES + 2];

    if (count == 1) {
        roast__grid_put_cell(grid, table, row, ROAST_COL_failures_attempt, "");
        return;
    }
    (void)snprintf(text, sizeof(text), "x %s", roast__number((double)count, "").text);
    roast__grid_put(grid, roast_str_of(text));
}

struct failures_shown {
    size_t first[MAX_FAILURES]; /* a row of each that is shown */
    size_t count;
    size_t rows; /* that they stand for */
};

static bool is_shown(const struct failures_shown *shown, const roast_table *table,
                     size_t row)
{
    for (size_t i = 0; i < shown->count; i++) {
        if (same_failure(table, shown->first[i], row))
            return true;
    }
    return false;
}

static void put_failure(struct roast_grid *grid, struct failures_shown *shown,
                        const roast_table *table, size_t row)
{
    size_t same = 0;
    for (size_t other = 0; other < roast_table_rows(table); other++)
        same += same_failure(table, row, other);

    roast__grid_put(grid, roast__cell_text(table, row, ROAST_COL_failures_file));
    char text[64] = "-";
    int64_t start, stop;
    if (roast_table_int(&start, table, row, ROAST_COL_failures_entry_start) &&
        roast_table_int(&stop, table, row, ROAST_COL_failures_entry_stop))
        (void)snprintf(text, sizeof(text), "%" PRId64 "-%" PRId64, start, stop);
    roast__grid_put(grid, roast_str_of(text));
    put_tries(grid, table, row, same);
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
    if (!roast__buf_ok(&error))
        grid->text.failed = true;
    roast__grid_put(grid,
                    (struct roast_str){(const char *)error.data, error.size_bytes});
    roast__buf_release(&error);
    shown->first[shown->count++] = row;
    shown->rows += same;
}

/* Failures that another attempt made good come last. How many rows are shown. */
static size_t put_failure_rows(struct roast_grid *grid, const roast_table *table)
{
    struct failures_shown shown = {.count = 0};

    for (int resolved = 0; resolved <= 1; resolved++)
        for (size_t row = 0;
             row < roast_table_rows(table) && shown.count < MAX_FAILURES; row++) {
            if (is_resolved(table, row) == (resolved == 1) &&
                !is_shown(&shown, table, row))
                put_failure(grid, &shown, table, row);
        }
    return shown.rows;
}

static void put_failures(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "file", .max_columns = 24, .cut = ROAST_CUT_MIDDLE},
        {.heading = "entries", .max_columns = 21, .cut = ROAST_CUT_MIDDLE},
        {.heading = "try", .max_columns = 6, .right = true, .cut = ROAST_CUT_END},
        {.heading = "error", .cut = ROAST_CUT_END},
    };
    const roast_table *table = shown->tables[ROAST_TABLE_failures];
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    size_t resolved = 0;

    if (roast_table_rows(table) == 0)
        return;
    for (size_t row = 0; row < roast_table_rows(table); row++)
        resolved += is_resolved(table, row);
    roast__put_title(buf, "Failures");
    size_t rows = put_failure_rows(&grid, table);
    roast__grid_write(buf, &grid);
    if (roast_table_rows(table) > rows)
        roast__put_count_line(buf, roast_table_rows(table) - rows, "more");
    if (resolved > 0)
        roast__put_count_line(buf, resolved, "made good by another attempt");
    roast__grid_release(&grid);
}

/* ---- losses and reasons ------------------------------------------------------- */

static void put_losses(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_grid_column columns[] = {
        {.max_columns = NUMBER_COLUMNS, .right = true, .cut = ROAST_CUT_END},
        {.cut = ROAST_CUT_END},
    };
    const roast_table *table = shown->tables[ROAST_TABLE_losses];
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
        roast__put_title(buf, "Lost or not kept");
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

/* What is missing of the run as a whole, as the collector recorded it. */
static void put_remarks(struct roast_buf *buf, const struct roast_shown *shown)
{
    struct roast_str rest = {NULL, 0};
    char line[512];

    if (shown->heading)
        rest = shown->heading->remarks;
    if (rest.size_bytes > 0)
        roast__put_title(buf, "Remarks");
    while (rest.size_bytes > 0) {
        const char *end = memchr(rest.data, '\n', rest.size_bytes);
        size_t size = end ? (size_t)(end - rest.data) : rest.size_bytes;
        struct roast_str text =
            roast_str_cut((struct roast_str){rest.data, size}, sizeof(line) - 1);
        (void)snprintf(line, sizeof(line), "%.*s", (int)text.size_bytes, text.data);
        roast__put_sentence(buf, 2, line);
        rest.data += size + (end != NULL);
        rest.size_bytes -= size + (end != NULL);
    }
}

static void put_monitor_errors(struct roast_buf *buf, const struct roast_shown *shown)
{
    char line[340];
    double errors;

    if (!roast__metric(&errors, shown, ROAST_METRIC_monitor_errors) || errors == 0)
        return;
    roast__put(buf, "\n" ROAST_HEADING "monitor errors" ROAST_HEADING_END ": ");
    roast__put(buf, roast__number(errors, "").text);
    roast__put(buf, "\n");
    if (!shown->heading || shown->heading->first_error.size_bytes == 0)
        return;
    struct roast_str first = roast_str_cut(shown->heading->first_error, 320);
    (void)snprintf(line, sizeof(line), "first: %.*s", (int)first.size_bytes,
                   first.data);
    roast__put_sentence(buf, 2, line); /* what to do is at its end */
}

void roast__put_blocks(struct roast_buf *buf, const struct roast_shown *shown)
{
    put_failures(buf, shown);
    roast__put_group(buf, shown, ROAST_GROUP_SECTIONS);
    roast__put_group(buf, shown, ROAST_GROUP_DATASETS);
    put_losses(buf, shown);
    /* Only metrics that users look for; metrics() has the reasons of all others. */
    static const struct {
        enum roast_metric metric;
        const char *label;
    } wanted[] = {
        {ROAST_METRIC_total_events, "events"},
        {ROAST_METRIC_total_bytes_read, "bytes read"},
        {ROAST_METRIC_num_chunks, "number of chunks"},
        {ROAST_METRIC_chunk_duration_mean, "time per chunk"},
        {ROAST_METRIC_peak_memory_bytes, "memory"},
    };
    bool any = false;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *why = shown->values->why[wanted[i].metric];
        double value;
        char line[512];
        if (roast__metric(&value, shown, wanted[i].metric) || !why)
            continue;
        if (!any)
            roast__put_title(buf, "Not available");
        any = true;
        (void)snprintf(line, sizeof(line), "%s: %s", wanted[i].label, why);
        roast__put_sentence(buf, 2, line);
    }
    put_remarks(buf, shown);
    put_monitor_errors(buf, shown);
}
