/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.c - data of the scheduler: lost workers, tasks by kind, hot lines.
 *
 * Nothing where there was no scheduler. Each block is bounded: the rest is counted. */
#include <math.h>
#include <stdio.h>

#include "report/blocks.h"

enum { MOST_WORKERS = 5, MOST_LINES = 5, LINE_BYTES = 256, NUMBER_COLUMNS = 11 };

/* ---- lost workers ---------------------------------------------------------------- */

/* Why, in the words of the scheduler, and what it was doing. */
static void put_lost_details(struct roast_buf *buf, const roast_table *table)
{
    for (size_t row = 0; row < roast_table_rows(table) && row < MOST_WORKERS; row++) {
        struct roast_str why =
            roast_table_text(table, row, ROAST_COL_lost_workers_reason);
        struct roast_str chunks =
            roast_table_text(table, row, ROAST_COL_lost_workers_chunks);
        struct roast_str held;
        struct roast_str worker = roast_str_cut(
            roast__cell_text(table, row, ROAST_COL_lost_workers_worker), 80);
        char line[3 * LINE_BYTES];
        if (why.data) {
            why = roast_str_cut(why, LINE_BYTES);
            (void)snprintf(line, sizeof(line), "%.*s: %.*s", (int)worker.size_bytes,
                           worker.data, (int)why.size_bytes, why.data);
            roast__put_sentence(buf, 2, line);
        }
        while (roast_table_item(&held, &chunks)) {
            held = roast_str_cut(held, 2 * LINE_BYTES);
            (void)snprintf(line, sizeof(line), "it held %.*s", (int)held.size_bytes,
                           held.data);
            roast__put_sentence(buf, 4, line);
        }
    }
}

static void put_lost_workers(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "worker", .max_columns = 30, .cut = ROAST_CUT_MIDDLE},
        {.heading = "ended", .max_columns = 18, .cut = ROAST_CUT_END},
        {.heading = "last memory", .max_columns = 20, .cut = ROAST_CUT_END},
        {.heading = "lost", .right = true, .cut = ROAST_CUT_END},
    };
    const roast_table *table = shown->tables[ROAST_TABLE_lost_workers];
    struct roast_grid grid = {.columns = columns, .column_count = 4};

    if (!table || roast_table_rows(table) == 0)
        return;
    roast__put_title(buf, "LOST WORKERS");
    for (size_t row = 0; row < roast_table_rows(table) && row < MOST_WORKERS; row++) {
        struct roast_str worker =
            roast_table_text(table, row, ROAST_COL_lost_workers_worker);
        double seconds =
            roast_table_number(table, row, ROAST_COL_lost_workers_seconds_lost);
        roast__grid_put(&grid, roast__text_or(worker, "-"));
        roast__grid_put(&grid,
                        roast__cell_text(table, row, ROAST_COL_lost_workers_ended));
        /* "2.10 GB of 4.00 GB" */
        double used =
            roast_table_number(table, row, ROAST_COL_lost_workers_memory_bytes);
        double limit =
            roast_table_number(table, row, ROAST_COL_lost_workers_memory_limit_bytes);
        char text[2 * ROAST_NUMBER_BYTES + 8];
        size_t size = roast_format_number(text, used, "B");
        if (!isnan(limit)) {
            (void)snprintf(text + size, sizeof(text) - size, " of %s",
                           roast__number(limit, "B").text);
        }
        roast__grid_put(&grid, roast_str_of(text));
        roast__grid_put_number(&grid, seconds, "s");
    }
    roast__grid_write(buf, &grid);
    put_lost_details(buf, table);
    if (roast_table_rows(table) > MOST_WORKERS)
        roast__put_count_line(buf, roast_table_rows(table) - MOST_WORKERS, "more");
    roast__grid_release(&grid);
}

/* ---- tasks ----------------------------------------------------------------------- */

static void put_tasks(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "tasks", .max_columns = 26, .cut = ROAST_CUT_END},
        {.heading = "count", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "time", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "failed", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "lost", .max_columns = NUMBER_COLUMNS, .right = true},
    };
    const roast_table *table = shown->tables[ROAST_TABLE_tasks_by_kind];
    struct roast_grid grid = {.columns = columns, .column_count = 5};

    if (!table || roast_table_rows(table) == 0)
        return;
    roast__put_title(buf, "TASKS ON DASK");
    for (size_t row = 0; row < roast_table_rows(table); row++) {
        double failed = roast_table_number(table, row, ROAST_COL_tasks_by_kind_failed);
        double again = roast_table_number(table, row, ROAST_COL_tasks_by_kind_retried);
        roast__grid_put(&grid,
                        roast__cell_text(table, row, ROAST_COL_tasks_by_kind_kind));
        roast__grid_put_cell(&grid, table, row, ROAST_COL_tasks_by_kind_count, "");
        roast__grid_put_cell(&grid, table, row, ROAST_COL_tasks_by_kind_seconds, "s");
        roast__grid_put_number(&grid, isnan(again) ? failed : failed + again, "");
        roast__grid_put_cell(&grid, table, row, ROAST_COL_tasks_by_kind_lost, "");
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

/* ---- hot lines ------------------------------------------------------------------- */

static void put_hot_lines(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "function", .max_columns = 50, .cut = ROAST_CUT_MIDDLE},
        {.heading = "time", .max_columns = NUMBER_COLUMNS, .right = true},
        {.heading = "in it alone", .max_columns = NUMBER_COLUMNS, .right = true},
    };
    const roast_table *table = shown->tables[ROAST_TABLE_hottest_lines];
    struct roast_grid grid = {.columns = columns, .column_count = 3};

    if (!table || roast_table_rows(table) == 0)
        return;
    roast__put_title(buf, "HOT LINES   as Dask's profiler saw them");
    for (size_t row = 0; row < roast_table_rows(table) && row < MOST_LINES; row++) {
        /* "analysis.py:12 process" */
        struct roast_str file =
            roast__cell_text(table, row, ROAST_COL_hottest_lines_file);
        struct roast_str name = roast__text_or(
            roast_table_text(table, row, ROAST_COL_hottest_lines_function), "");
        double line = roast_table_number(table, row, ROAST_COL_hottest_lines_line);
        struct roast_buf place = {0};
        char number[ROAST_NUMBER_BYTES] = "";
        for (size_t i = file.size_bytes; i > 0;
             i--) { /* the file without its folders */
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
            grid.text.failed = true;
        roast__grid_put(&grid,
                        (struct roast_str){(const char *)place.data, place.size_bytes});
        roast__buf_release(&place);
        roast__grid_put_cell(&grid, table, row, ROAST_COL_hottest_lines_seconds, "s");
        roast__grid_put_cell(&grid, table, row, ROAST_COL_hottest_lines_self_seconds,
                             "s");
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
