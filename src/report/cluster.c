/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.c - what a scheduler told: lost workers, tasks by kind, hot lines.
 *
 * Nothing where there was no scheduler. Each block is bounded: the rest is counted. */
#include <math.h>
#include <stdio.h>

#include "report/grid.h"

enum { MOST_WORKERS = 5, MOST_LINES = 5, LINE_BYTES = 256, NUMBER_COLUMNS = 11 };

/* ---- lost workers ---------------------------------------------------------------- */

/* "2.10 GB of 4.00 GB" */
static void put_memory(struct roast_grid *grid, const struct roast_table *table,
                       size_t row)
{
    double used = roast__shown_number(roast__cell(table, row, "memory_bytes"));
    double limit = roast__shown_number(roast__cell(table, row, "memory_limit_bytes"));
    char text[2 * ROAST_NUMBER_BYTES + 8];
    char number[ROAST_NUMBER_BYTES];
    size_t size = roast_format_number(text, used, "B");

    if (!isnan(limit)) {
        (void)roast_format_number(number, limit, "B");
        (void)snprintf(text + size, sizeof(text) - size, " of %s", number);
    }
    roast__grid_put(grid, roast_str_of(text));
}

static void put_lost_rows(struct roast_grid *grid, const struct roast_table *table)
{
    for (size_t row = 0; row < table->row_count && row < MOST_WORKERS; row++) {
        struct roast_cell worker = roast__cell(table, row, "worker");
        double seconds = roast__shown_number(roast__cell(table, row, "seconds_lost"));
        roast__grid_put(grid, roast__text_or(worker, "-"));
        roast__grid_put(grid, roast__text_or(roast__cell(table, row, "ended"), "-"));
        put_memory(grid, table, row);
        roast__grid_put_number(grid, seconds, "s");
    }
}

/* Why, in the words of the scheduler, and what it was doing. */
static void put_lost_details(struct roast_buf *buf, const struct roast_table *table)
{
    for (size_t row = 0; row < table->row_count && row < MOST_WORKERS; row++) {
        struct roast_cell reason = roast__cell(table, row, "reason");
        struct roast_cell chunks = roast__cell(table, row, "chunks");
        struct roast_str worker =
            roast_str_cut(roast__text_or(roast__cell(table, row, "worker"), "-"), 80);
        char line[3 * LINE_BYTES];
        if (reason.type == ROAST_CELL_TEXT) {
            struct roast_str why = roast_str_cut(reason.text, LINE_BYTES);
            (void)snprintf(line, sizeof(line), "%.*s: %.*s", (int)worker.size_bytes,
                           worker.data, (int)why.size_bytes, why.data);
            roast__put_sentence(buf, 2, line);
        }
        for (uint64_t i = 0; chunks.type == ROAST_CELL_LIST && i < chunks.list.count;
             i++) {
            struct roast_str held = roast_str_cut(
                roast__text_or(chunks.list.items[i], "?"), 2 * LINE_BYTES);
            (void)snprintf(line, sizeof(line), "it held %.*s", (int)held.size_bytes,
                           held.data);
            roast__put_sentence(buf, 4, line);
        }
    }
}

static void put_lost_workers(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_column columns[] = {
        {.heading = "worker", .max_columns = 30, .cut = ROAST_CUT_MIDDLE},
        {.heading = "ended", .max_columns = 18, .cut = ROAST_CUT_END},
        {.heading = "last memory", .max_columns = 20, .cut = ROAST_CUT_END},
        {.heading = "lost", .right = true, .cut = ROAST_CUT_END},
    };
    const struct roast_table *table = roast__find_table(shown, "lost_workers");
    struct roast_grid grid = {.columns = columns, .column_count = 4};

    if (!table || table->row_count == 0)
        return;
    roast__put_title(buf, "LOST WORKERS");
    put_lost_rows(&grid, table);
    roast__grid_write(buf, &grid);
    put_lost_details(buf, table);
    if (table->row_count > MOST_WORKERS)
        roast__put_count_line(buf, table->row_count - MOST_WORKERS, "more");
    roast__grid_release(&grid);
}

/* ---- tasks ----------------------------------------------------------------------- */

static void put_tasks(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const char *const numbers[] = {"count", "seconds", "failed", "lost"};
    static const char *const units[] = {"", "s", "", ""};
    static const struct roast_column columns[] = {
        {.heading = "tasks", .max_columns = 26, .cut = ROAST_CUT_END},
        {.heading = "count", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "time", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "failed", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "lost", .max_columns = NUMBER_COLUMNS, .right = true},
    };
    const struct roast_table *table = roast__find_table(shown, "tasks_by_kind");
    struct roast_grid grid = {.columns = columns, .column_count = 5};

    if (!table || table->row_count == 0)
        return;
    roast__put_title(buf, "TASKS ON DASK");
    for (size_t row = 0; row < table->row_count; row++) {
        double again = roast__shown_number(roast__cell(table, row, "retried"));
        roast__grid_put(&grid, roast__text_or(roast__cell(table, row, "kind"), "-"));
        for (int i = 0; i < 4; i++) {
            double value = roast__shown_number(roast__cell(table, row, numbers[i]));
            bool failed = strcmp(numbers[i], "failed") == 0 && !isnan(again);
            roast__grid_put_number(&grid, failed ? value + again : value, units[i]);
        }
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

/* ---- hot lines ------------------------------------------------------------------- */

/* "analysis.py:12 process" */
static void put_place(struct roast_grid *grid, const struct roast_table *table,
                      size_t row)
{
    struct roast_str file = roast__text_or(roast__cell(table, row, "file"), "-");
    struct roast_str name = roast__text_or(roast__cell(table, row, "function"), "");
    double line = roast__shown_number(roast__cell(table, row, "line"));
    struct roast_buf place = {0};
    char number[ROAST_NUMBER_BYTES] = "";

    for (size_t i = file.size_bytes; i > 0; i--) { /* the file without its folders */
        if (file.data[i - 1] == '/' && i < file.size_bytes) {
            file = (struct roast_str){file.data + i, file.size_bytes - i};
            break;
        }
    }
    if (line >= 0)
        (void)snprintf(number, sizeof(number), ":%.0f ", line);
    (void)roast__put_text(&place, file, ROAST_PAGE_COLUMNS / 2, ROAST_CUT_MIDDLE);
    roast__put(&place, number);
    (void)roast__put_text(&place, name, ROAST_PAGE_COLUMNS / 2, ROAST_CUT_END);
    if (!roast__buf_ok(&place))
        grid->text.failed = true;
    roast__grid_put(grid,
                    (struct roast_str){(const char *)place.data, place.size_bytes});
    roast__buf_release(&place);
}

static void put_hot_lines(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_column columns[] = {
        {.heading = "function", .max_columns = 50, .cut = ROAST_CUT_MIDDLE},
        {.heading = "time", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "in it alone", .max_columns = NUMBER_COLUMNS, .right = true},
    };
    const struct roast_table *table = roast__find_table(shown, "hot_lines");
    struct roast_grid grid = {.columns = columns, .column_count = 3};

    if (!table || table->row_count == 0)
        return;
    roast__put_title(buf, "HOT LINES   as Dask's profiler saw them");
    for (size_t row = 0; row < table->row_count && row < MOST_LINES; row++) {
        put_place(&grid, table, row);
        roast__grid_put_number(
            &grid, roast__shown_number(roast__cell(table, row, "seconds")), "s");
        roast__grid_put_number(
            &grid, roast__shown_number(roast__cell(table, row, "self_seconds")), "s");
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

void roast__put_cluster(struct roast_buf *buf, const struct roast_shown *shown)
{
    put_lost_workers(buf, shown);
    put_tasks(buf, shown);
    put_hot_lines(buf, shown);
}
