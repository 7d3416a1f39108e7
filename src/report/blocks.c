/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - what the six tables do not hold: failures, sections, datasets, losses, and
 * why something is missing.
 *
 * Each block is bounded: the rows that matter most are shown, the rest is counted. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/grid.h"

enum { MAX_FAILURES = 10, MAX_GROUPS = 20, NUMBER_COLUMNS = 11 };

static const size_t no_row = SIZE_MAX;

static void put_title(struct roast_buf *buf, const char *title)
{
    roast__put(buf, "\n");
    roast__put(buf, title);
    roast__put(buf, "\n");
}

static void put_count_line(struct roast_buf *buf, uint64_t count, const char *words)
{
    char line[96];

    (void)snprintf(line, sizeof(line), "  %" PRIu64 " %s\n", count, words);
    roast__put(buf, line);
}

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

static struct roast_str text_or(struct roast_cell cell, const char *other)
{
    bool there = cell.type == ROAST_CELL_TEXT && cell.text.data;

    return there ? cell.text : roast_str_of(other);
}

/* "OSError: no such file", or "lost". */
static void put_error(struct roast_grid *grid, const struct roast_table *table,
                      size_t row)
{
    struct roast_cell message = roast__cell(table, row, "error_message");
    struct roast_cell type = roast__cell(table, row, "error_type");
    struct roast_str status = text_or(roast__cell(table, row, "status"), "failed");
    struct roast_buf error = {0};

    (void)roast__put_text(&error, type.type == ROAST_CELL_TEXT ? type.text : status,
                          ROAST_PAGE_COLUMNS, ROAST_CUT_MIDDLE);
    if (message.type == ROAST_CELL_TEXT && message.text.size_bytes > 0) {
        roast__put(&error, ": ");
        (void)roast__put_text(&error, message.text, ROAST_PAGE_COLUMNS,
                              ROAST_CUT_MIDDLE);
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

/* Failures that another attempt made good come last. */
static void put_failure_rows(struct roast_grid *grid, const struct roast_table *table)
{
    size_t shown = 0;

    for (int resolved = 0; resolved <= 1; resolved++)
        for (size_t row = 0; row < table->row_count && shown < MAX_FAILURES; row++) {
            if (is_resolved(table, row) != (resolved == 1))
                continue;
            roast__grid_put(grid, text_or(roast__cell(table, row, "file"), "-"));
            put_entries(grid, table, row);
            roast__grid_put_number(
                grid, roast__shown_number(roast__cell(table, row, "attempt")), "");
            put_error(grid, table, row);
            shown++;
        }
}

static void put_failures(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_column columns[] = {
        {.heading = "file", .max_columns = 24, .cut = ROAST_CUT_MIDDLE},
        {.heading = "entries", .max_columns = 21, .cut = ROAST_CUT_MIDDLE},
        {.heading = "try", .max_columns = 6, .right = true, .cut = ROAST_CUT_END},
        {.heading = "error", .cut = ROAST_CUT_MIDDLE},
    };
    const struct roast_table *table = roast__find_table(shown, "failures");
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    size_t resolved = 0;

    if (!table || table->row_count == 0)
        return;
    for (size_t row = 0; row < table->row_count; row++)
        resolved += is_resolved(table, row);
    put_title(buf, "Failures");
    put_failure_rows(&grid, table);
    roast__grid_write(buf, &grid);
    if (table->row_count > MAX_FAILURES)
        put_count_line(buf, table->row_count - MAX_FAILURES, "more");
    if (resolved > 0)
        put_count_line(buf, resolved, "made good by another attempt");
    roast__grid_release(&grid);
}

/* ---- sections and datasets ---------------------------------------------------- */

/* A table whose rows are ranked by one column. */
struct group_block {
    const char *table;
    const char *title;
    size_t fewest_rows; /* shown from this many rows on */
    const char *rank_by;
    size_t column_count;
    struct {
        const char *column;
        const char *unit; /* NULL: a name */
        double scale;
    } values[ROAST_GRID_MAX_COLUMNS];
    struct roast_column columns[ROAST_GRID_MAX_COLUMNS];
};

#define NAME(text) \
    { \
        .heading = (text), .max_columns = 26, .cut = ROAST_CUT_MIDDLE \
    }
#define NUMBER(text) \
    { \
        .heading = (text), .max_columns = NUMBER_COLUMNS, .right = true, \
        .cut = ROAST_CUT_END \
    }

static const struct group_block group_blocks[] = {
    {"sections",
     "Sections",
     1,
     "total",
     4,
     {{NULL, NULL, 1}, {"count", "", 1}, {"total", "s", 1}, {"share", "%", 100}},
     {NAME("name"), NUMBER("calls"), NUMBER("total"), NUMBER("share")}},
    {"per_dataset",
     "Datasets",
     2,
     "total_duration",
     5,
     {{NULL, NULL, 1},
      {"num_chunks", "", 1},
      {"total_events", "", 1},
      {"total_duration", "s", 1},
      {"events_per_second", "Hz", 1}},
     {NAME("name"), NUMBER("chunks"), NUMBER("events"), NUMBER("process()"),
      NUMBER("rate")}},
};

static double rank_of(const struct roast_table *table, size_t row, const char *column)
{
    double value = roast__shown_number(roast__cell(table, row, column));

    return isnan(value) ? -INFINITY : value;
}

/* The row that follows `after` from the largest down; equal ones as they come. */
static size_t next_in_rank(const struct roast_table *table, const char *column,
                           size_t after)
{
    double limit = after == no_row ? INFINITY : rank_of(table, after, column);
    double best_rank = -INFINITY;
    size_t best = no_row;

    for (size_t row = 0; row < table->row_count; row++) {
        double rank = rank_of(table, row, column);
        bool follows =
            after == no_row || rank < limit || (rank == limit && row > after);
        if (follows && (best == no_row || rank > best_rank)) {
            best = row;
            best_rank = rank;
        }
    }
    return best;
}

static void put_group_row(struct roast_grid *grid, const struct group_block *block,
                          const struct roast_table *table, size_t row)
{
    for (size_t i = 0; i < block->column_count; i++) {
        if (!block->values[i].unit) {
            roast__grid_put(grid,
                            text_or(table->cells[row * table->column_count], "-"));
            continue;
        }
        double value =
            roast__shown_number(roast__cell(table, row, block->values[i].column));
        roast__grid_put_number(grid, value * block->values[i].scale,
                               block->values[i].unit);
    }
}

static void put_group_block(struct roast_buf *buf, const struct group_block *block,
                            const struct roast_shown *shown)
{
    const struct roast_table *table = roast__find_table(shown, block->table);
    struct roast_grid grid = {.columns = block->columns,
                              .column_count = block->column_count};
    size_t row = no_row;

    if (!table || table->row_count < block->fewest_rows || table->column_count == 0)
        return;
    put_title(buf, block->title);
    for (size_t i = 0; i < table->row_count && i < MAX_GROUPS; i++) {
        row = next_in_rank(table, block->rank_by, row);
        put_group_row(&grid, block, table, row);
    }
    roast__grid_write(buf, &grid);
    if (table->row_count > MAX_GROUPS)
        put_count_line(buf, table->row_count - MAX_GROUPS, "more");
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
        put_title(buf, "Lost or not kept");
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
            put_title(buf, "Not available");
        any = true;
        (void)snprintf(line, sizeof(line), "%s: %s", wanted[i].label, why);
        roast__put_sentence(buf, 2, line);
    }
}

static void put_monitor_errors(struct roast_buf *buf, const struct roast_shown *shown)
{
    char number[ROAST_NUMBER_BYTES];
    double errors;

    if (!roast__metric(&errors, shown, ROAST_METRIC_monitor_errors) || errors == 0)
        return;
    (void)roast_format_number(number, errors, "");
    roast__put(buf, "\nmonitor errors: ");
    roast__put(buf, number);
    roast__put(buf, "\n");
    if (!shown->heading || shown->heading->first_error.size_bytes == 0)
        return;
    roast__put(buf, "  first: ");
    (void)roast__put_text(buf, shown->heading->first_error, ROAST_PAGE_COLUMNS - 9,
                          ROAST_CUT_END);
    roast__put(buf, "\n");
}

void roast__put_blocks(struct roast_buf *buf, const struct roast_shown *shown)
{
    put_failures(buf, shown);
    for (size_t i = 0; i < sizeof(group_blocks) / sizeof(group_blocks[0]); i++)
        put_group_block(buf, &group_blocks[i], shown);
    put_losses(buf, shown);
    put_reasons(buf, shown);
    put_monitor_errors(buf, shown);
}
