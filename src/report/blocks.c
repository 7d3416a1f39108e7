/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - what the six tables do not hold: failures, sections, datasets, losses, and
 * why something is missing.
 *
 * Each block is bounded: the rows that matter most are shown, the rest is counted. */
#include <inttypes.h>
#include <stdio.h>

#include "report/grid.h"

enum { MAX_FAILURES = 10, NUMBER_COLUMNS = 11 };

/* ---- failures ----------------------------------------------------------------- */

static void put_entries(struct roast_grid *grid, const struct roast_table *table,
                        size_t row)
{
    struct roast_cell start = roast__cell(table, row, "entry_start");
    struct roast_cell stop = roast__cell(table, row, "entry_stop");
    char text[64] = "-";

    if (start.type == ROAST_CELL_COUNT && stop.type == ROAST_CELL_COUNT)
        (void)snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, start.count,
                       stop.count);
    roast__grid_put(grid, roast_str_of(text));
}

/* "OSError: no such file", or "lost". */
static void put_error(struct roast_grid *grid, const struct roast_table *table,
                      size_t row)
{
    struct roast_cell message = roast__cell(table, row, "error_message");
    struct roast_cell type = roast__cell(table, row, "error_type");
    struct roast_str status =
        roast__text_or(roast__cell(table, row, "status"), "failed");
    struct roast_buf error = {0};

    (void)roast__put_text(&error, type.type == ROAST_CELL_TEXT ? type.text : status,
                          ROAST_PAGE_COLUMNS, ROAST_CUT_END);
    if (message.type == ROAST_CELL_TEXT && message.text.size_bytes > 0) {
        roast__put(&error, ": ");
        (void)roast__put_text(&error, message.text, ROAST_PAGE_COLUMNS, ROAST_CUT_END);
    }
    if (!roast__buf_ok(&error))
        grid->text.failed = true;
    roast__grid_put(grid,
                    (struct roast_str){(const char *)error.data, error.size_bytes});
    roast__buf_release(&error);
}

static bool is_resolved(const struct roast_table *table, size_t row)
{
    struct roast_cell cell = roast__cell(table, row, "resolved");

    return cell.type == ROAST_CELL_BOOL && cell.count != 0;
}

static bool same_cell(struct roast_cell a, struct roast_cell b)
{
    if (a.type != b.type)
        return false;
    if (a.type == ROAST_CELL_COUNT || a.type == ROAST_CELL_BOOL)
        return a.count == b.count;
    if (a.type != ROAST_CELL_TEXT)
        return true;
    return a.text.size_bytes == b.text.size_bytes &&
           (a.text.size_bytes == 0 ||
            memcmp(a.text.data, b.text.data, a.text.size_bytes) == 0);
}

/* Tries at one chunk that failed in the same way. */
static bool same_failure(const struct roast_table *table, size_t a, size_t b)
{
    static const char *const columns[] = {"dataset",       "file",    "entry_start",
                                          "entry_stop",    "status",  "error_type",
                                          "error_message", "resolved"};

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        if (!same_cell(roast__cell(table, a, columns[i]),
                       roast__cell(table, b, columns[i])))
            return false;
    }
    return true;
}

static size_t count_same(const struct roast_table *table, size_t row)
{
    size_t count = 0;

    for (size_t other = 0; other < table->row_count; other++)
        count += same_failure(table, row, other);
    return count;
}

/* Which try it was, or how often the same was tried: "x 4". */
static void put_tries(struct roast_grid *grid, const struct roast_table *table,
                      size_t row, size_t count)
{
    char number[ROAST_NUMBER_BYTES];
    char text[ROAST_NUMBER_BYTES + 2];

    if (count == 1) {
        roast__grid_put_number(
            grid, roast__shown_number(roast__cell(table, row, "attempt")), "");
        return;
    }
    (void)roast_format_number(number, (double)count, "");
    (void)snprintf(text, sizeof(text), "x %s", number);
    roast__grid_put(grid, roast_str_of(text));
}

struct failures_shown {
    size_t first[MAX_FAILURES]; /* a row of each that is shown */
    size_t count;
    size_t rows; /* that they stand for */
};

static bool is_shown(const struct failures_shown *shown,
                     const struct roast_table *table, size_t row)
{
    for (size_t i = 0; i < shown->count; i++) {
        if (same_failure(table, shown->first[i], row))
            return true;
    }
    return false;
}

static void put_failure(struct roast_grid *grid, struct failures_shown *shown,
                        const struct roast_table *table, size_t row)
{
    size_t same = count_same(table, row);

    roast__grid_put(grid, roast__text_or(roast__cell(table, row, "file"), "-"));
    put_entries(grid, table, row);
    put_tries(grid, table, row, same);
    put_error(grid, table, row);
    shown->first[shown->count++] = row;
    shown->rows += same;
}

/* Failures that another attempt made good come last. How many rows are shown. */
static size_t put_failure_rows(struct roast_grid *grid, const struct roast_table *table)
{
    struct failures_shown shown = {.count = 0};

    for (int resolved = 0; resolved <= 1; resolved++)
        for (size_t row = 0; row < table->row_count && shown.count < MAX_FAILURES;
             row++) {
            if (is_resolved(table, row) == (resolved == 1) &&
                !is_shown(&shown, table, row))
                put_failure(grid, &shown, table, row);
        }
    return shown.rows;
}

static void put_failures(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_column columns[] = {
        {.heading = "file", .max_columns = 24, .cut = ROAST_CUT_MIDDLE},
        {.heading = "entries", .max_columns = 21, .cut = ROAST_CUT_MIDDLE},
        {.heading = "try", .max_columns = 6, .right = true, .cut = ROAST_CUT_END},
        {.heading = "error", .cut = ROAST_CUT_END},
    };
    const struct roast_table *table = roast__find_table(shown, "failures");
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    size_t resolved = 0;

    if (!table || table->row_count == 0)
        return;
    for (size_t row = 0; row < table->row_count; row++)
        resolved += is_resolved(table, row);
    roast__put_title(buf, "Failures");
    size_t rows = put_failure_rows(&grid, table);
    roast__grid_write(buf, &grid);
    if (table->row_count > rows)
        roast__put_count_line(buf, table->row_count - rows, "more");
    if (resolved > 0)
        roast__put_count_line(buf, resolved, "made good by another attempt");
    roast__grid_release(&grid);
}

/* ---- losses and reasons ------------------------------------------------------- */

static const char *loss_meaning(const char *name)
{
    static const struct {
        const char *name;
        const char *meaning;
    } losses[] = {
#define K(name, text) {#name, (text)},
#include "roast/run_losses.def"
#undef K
#define L(number, name, text) {#name, (text)},
#include "roast/losses.def"
#undef L
    };

    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
        if (strcmp(losses[i].name, name) == 0)
            return losses[i].meaning;
    return name;
}

static void put_losses(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_column columns[] = {
        {.max_columns = NUMBER_COLUMNS, .right = true, .cut = ROAST_CUT_END},
        {.cut = ROAST_CUT_END},
    };
    const struct roast_table *table = roast__find_table(shown, "losses");
    struct roast_grid grid = {.columns = columns, .column_count = 2};

    if (!table || table->row_count == 0)
        return;
    for (size_t i = 0; i < table->column_count; i++) {
        double lost = roast__shown_number(table->cells[i]);
        if (!(lost > 0))
            continue;
        roast__grid_put_number(&grid, lost, "");
        roast__grid_put(&grid, roast_str_of(loss_meaning(table->columns[i])));
    }
    if (grid.cells.size_bytes > 0)
        roast__put_title(buf, "Lost or not kept");
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

/* Only what a user would look for; metrics() has the reason of every other one. */
static void put_reasons(struct roast_buf *buf, const struct roast_shown *shown)
{
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
}

/* What is missing of the run as a whole, as whoever collected it said. */
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
    char number[ROAST_NUMBER_BYTES];
    char line[340];
    double errors;

    if (!roast__metric(&errors, shown, ROAST_METRIC_monitor_errors) || errors == 0)
        return;
    (void)roast_format_number(number, errors, "");
    roast__put(buf, "\nmonitor errors: ");
    roast__put(buf, number);
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
    put_reasons(buf, shown);
    put_remarks(buf, shown);
    put_monitor_errors(buf, shown);
}
