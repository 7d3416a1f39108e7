/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_section.c - data of the scheduler: lost workers, tasks by kind, hot lines.
 *
 * On the short page further rows are counted. */
#include <math.h>
#include <stdio.h>

#include "report/layout.h"

enum { BRIEF_WORKERS = 3, BRIEF_LINES = 5, LINE_BYTES = 256, NUMBER_COLUMNS = 11 };

/* ---- lost workers ---------------------------------------------------------------- */

/* The reason of the scheduler, and the chunks that the worker had. */
static void put_lost_details(struct roast_buf *buf, const roast_table *table,
                             size_t most)
{
    for (size_t row = 0; row < roast_table_rows(table) && row < most; row++) {
        struct roast_str why =
            roast_table_text(table, row, ROAST_COL_lost_workers_reason);
        struct roast_str chunks =
            roast_table_text(table, row, ROAST_COL_lost_workers_chunks);
        struct roast_str held;
        struct roast_str worker = roast_str_cut(
            roast__cell_text(table, row, ROAST_COL_lost_workers_worker), 80);
        if (why.data) {
            why = roast_str_cut(why, LINE_BYTES);
            roast__put_sentence(buf, 2, "%.*s: %.*s", (int)worker.size_bytes,
                                worker.data, (int)why.size_bytes, why.data);
        }
        while (roast_table_item(&held, &chunks)) {
            held = roast_str_cut(held, 2 * LINE_BYTES);
            roast__put_sentence(buf, 4, "%s %.*s", roast__term(ROAST_TERM_held),
                                (int)held.size_bytes, held.data);
        }
    }
}

void roast__put_lost_workers(struct roast_buf *buf,
                             const struct roast_page_input *input)
{
    const struct roast_grid_column columns[] = {
        {.heading = roast__term(ROAST_TERM_lost_worker),
         .max_columns = 30,
         .cut = ROAST_CUT_MIDDLE},
        {.heading = roast__term(ROAST_TERM_ended), .max_columns = 18},
        {.heading = roast__term(ROAST_TERM_last_memory), .max_columns = 20},
        {.heading = roast__term(ROAST_TERM_seconds_lost), .right = true},
    };
    const roast_table *table = input->tables[ROAST_TABLE_lost_workers];
    size_t most = roast__most_rows(input, BRIEF_WORKERS);
    struct roast_grid grid = {.columns = columns, .column_count = 4};

    if (roast_table_rows(table) == 0)
        return;
    roast__put_title(buf, roast__term(ROAST_TERM_lost_workers));
    for (size_t row = 0; row < roast_table_rows(table) && row < most; row++) {
        roast__grid_put(&grid,
                        roast__cell_text(table, row, ROAST_COL_lost_workers_worker));
        roast__grid_put(&grid,
                        roast__cell_text(table, row, ROAST_COL_lost_workers_ended));
        /* "2.10 GB of 4.00 GB" */
        double used =
            roast_table_number(table, row, ROAST_COL_lost_workers_memory_bytes);
        double limit =
            roast_table_number(table, row, ROAST_COL_lost_workers_memory_limit_bytes);
        char text[2 * ROAST_NUMBER_BYTES + 8];
        size_t size = roast_format_number(text, used, "B");
        if (!isnan(limit))
            (void)snprintf(text + size, sizeof(text) - size, " of %s",
                           roast_number(limit, "B").text);
        roast__grid_put(&grid, roast_str_of(text));
        roast__grid_put_cell(&grid, table, row, ROAST_COL_lost_workers_seconds_lost,
                             "s");
    }
    roast__grid_write(buf, &grid);
    put_lost_details(buf, table, most);
    roast__put_more(buf, input, roast_table_rows(table), most);
    roast__grid_release(&grid);
}

/* ---- tasks ----------------------------------------------------------------------- */

/* A column of numbers. */
static struct roast_grid_column number_column(enum roast_term heading)
{
    return (struct roast_grid_column){
        .heading = roast__term(heading), .max_columns = NUMBER_COLUMNS, .right = true};
}

void roast__put_tasks(struct roast_buf *buf, const struct roast_page_input *input)
{
    const struct roast_grid_column columns[] = {
        {.heading = roast__term(ROAST_TERM_task_kind), .max_columns = 26},
        number_column(ROAST_TERM_task_count),
        number_column(ROAST_TERM_task_time),
        number_column(ROAST_TERM_task_failed),
        number_column(ROAST_TERM_task_lost),
    };
    const roast_table *table = input->tables[ROAST_TABLE_tasks_by_kind];
    struct roast_grid grid = {.columns = columns, .column_count = 5};

    if (roast_table_rows(table) == 0)
        return;
    roast__put_title(buf, roast__term(ROAST_TERM_tasks));
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

void roast__put_hot_lines(struct roast_buf *buf, const struct roast_page_input *input)
{
    const struct roast_grid_column columns[] = {
        {.heading = roast__term(ROAST_TERM_hot_function),
         .max_columns = 50,
         .cut = ROAST_CUT_MIDDLE},
        number_column(ROAST_TERM_hot_time),
        number_column(ROAST_TERM_hot_self),
    };
    const roast_table *table = input->tables[ROAST_TABLE_hottest_lines];
    size_t most = roast__most_rows(input, BRIEF_LINES);
    char title[LINE_BYTES];
    struct roast_grid grid = {.columns = columns, .column_count = 3};

    if (roast_table_rows(table) == 0)
        return;
    (void)snprintf(title, sizeof(title), "%s   by sampling",
                   roast__term(ROAST_TERM_hot));
    roast__put_title(buf, title);
    for (size_t row = 0; row < roast_table_rows(table) && row < most; row++) {
        /* "analysis.py:12 process" */
        struct roast_str file =
            roast__cell_text(table, row, ROAST_COL_hottest_lines_file);
        struct roast_str name = roast__text_or(
            roast_table_text(table, row, ROAST_COL_hottest_lines_function), "");
        double line = roast_table_number(table, row, ROAST_COL_hottest_lines_line);
        struct roast_buf text = {0};
        char number[ROAST_NUMBER_BYTES] = "";
        for (size_t i = file.size_bytes; i > 0; i--) { /* without its folders */
            if (file.data[i - 1] == '/' && i < file.size_bytes) {
                file = (struct roast_str){file.data + i, file.size_bytes - i};
                break;
            }
        }
        if (line >= 0)
            (void)snprintf(number, sizeof(number), ":%.0f ", line);
        (void)roast__put_text(&text, file, ROAST_PAGE_COLUMNS / 2, ROAST_CUT_MIDDLE);
        roast__put(&text, number);
        (void)roast__put_text(&text, name, ROAST_PAGE_COLUMNS / 2, ROAST_CUT_END);
        if (!roast__buf_ok(&text))
            grid.text.failed = true;
        roast__grid_put(&grid,
                        (struct roast_str){(const char *)text.data, text.size_bytes});
        roast__buf_release(&text);
        roast__grid_put_cell(&grid, table, row, ROAST_COL_hottest_lines_seconds, "s");
        roast__grid_put_cell(&grid, table, row, ROAST_COL_hottest_lines_self_seconds,
                             "s");
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    roast__put_more(buf, input, roast_table_rows(table), most);
}
