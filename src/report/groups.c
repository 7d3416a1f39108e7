/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - tables whose rows are ranked: sections, datasets, branches, endpoints.
 *
 * What differs between them is a row of `group_blocks`. The rows that matter most are
 * shown, the rest is counted. */
#include <math.h>

#include "report/grid.h"

enum { MANY_ROWS = 20, FEW_ROWS = 5, NAME_COLUMNS = 26, NUMBER_COLUMNS = 11 };

struct group_value {
    const char *heading;
    const char *column; /* NULL: the name of the row */
    const char *unit;
    double scale;
    bool of_all; /* divided by the sum over all rows */
};

struct group_block {
    const char *table;
    const char *title;  /* NULL: goes on in the block above */
    size_t fewest_rows; /* shown from this many rows on */
    size_t most_rows;
    const char *rank_by;
    const char *rank_else; /* NULL, or what ranks where no row has any of rank_by */
    size_t column_count;
    struct group_value values[ROAST_GRID_MAX_COLUMNS];
};

#define NAME(heading) \
    { \
        (heading), NULL, "", 1, false \
    }
#define NUMBER(heading, column, unit) \
    { \
        (heading), (column), (unit), 1, false \
    }
#define RATIO(heading, column) \
    { \
        (heading), (column), "%", 100, false \
    }
#define OF_ALL(heading, column) \
    { \
        (heading), (column), "%", 100, true \
    }

/* In the order of enum roast_group. */
static const struct group_block group_blocks[] = {
    {"sections",
     "Sections",
     1,
     MANY_ROWS,
     "total",
     NULL,
     5,
     {NAME("name"), NUMBER("calls", "count", ""), NUMBER("total", "total", "s"),
      NUMBER("itself", "self", "s"), RATIO("share", "share")}},
    {"per_dataset",
     "Datasets",
     2,
     MANY_ROWS,
     "total_duration",
     NULL,
     5,
     {NAME("name"), NUMBER("chunks", "num_chunks", ""),
      NUMBER("events", "total_events", ""), NUMBER("process()", "total_duration", "s"),
      NUMBER("rate", "events_per_second", "Hz")}},
    {"branch_costs",
     NULL,
     1,
     FEW_ROWS,
     "bytes",
     "seconds",
     5,
     {NAME("branch"), NUMBER("bytes", "bytes", "B"), OF_ALL("of columns", "bytes"),
      NUMBER("time", "seconds", "s"), NUMBER("reads", "reads", "")}},
    {"per_endpoint",
     NULL,
     1,
     FEW_ROWS,
     "bytes",
     "requests",
     5,
     {NAME("storage"), NUMBER("requests", "requests", ""),
      NUMBER("mean size", "mean_request_bytes", "B"),
      NUMBER("wait", "wait_seconds", "s"), NUMBER("errors", "errors", "")}},
};

/* ---- ranks -------------------------------------------------------------------- */

static double rank_of(const struct roast_ranked *ranked, size_t index)
{
    double value = roast__shown_number(ranked->cells[index * ranked->stride]);

    return isnan(value) ? -INFINITY : value;
}

size_t roast__next_in_rank(const struct roast_ranked *ranked, size_t after)
{
    bool first = after == ROAST_NO_RANK;
    double limit = first ? INFINITY : rank_of(ranked, after);
    double best_rank = -INFINITY;
    size_t best = ROAST_NO_RANK;

    for (size_t i = 0; i < ranked->count; i++) {
        double rank = rank_of(ranked, i);
        bool follows = first || rank < limit || (rank == limit && i > after);
        if (follows && (best == ROAST_NO_RANK || rank > best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* A column of a table; the first one when there is no such column. */
static struct roast_ranked ranked_by(const struct roast_table *table,
                                     const char *column)
{
    size_t at = 0;

    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], column) == 0)
            at = i;
    return (struct roast_ranked){table->cells + at, table->row_count,
                                 table->column_count};
}

/* The sum of what is known; what no table should hold counts nothing. */
static double sum_of(const struct roast_table *table, const char *column)
{
    double sum = 0;

    for (size_t row = 0; row < table->row_count; row++) {
        double value = roast__shown_number(roast__cell(table, row, column));
        if (isfinite(value) && value > 0)
            sum += value;
    }
    return sum;
}

/* ---- blocks ------------------------------------------------------------------- */

static void fill_columns(struct roast_column *columns, const struct group_block *block)
{
    for (size_t i = 0; i < block->column_count; i++) {
        bool name = !block->values[i].column;
        columns[i] = (struct roast_column){
            .heading = block->values[i].heading,
            .max_columns = name ? NAME_COLUMNS : NUMBER_COLUMNS,
            .right = !name,
            .cut = name ? ROAST_CUT_MIDDLE : ROAST_CUT_END,
        };
    }
}

static void put_group_row(struct roast_grid *grid, const struct group_block *block,
                          const struct roast_table *table, size_t row)
{
    for (size_t i = 0; i < block->column_count; i++) {
        const struct group_value *shown = &block->values[i];
        if (!shown->column) {
            struct roast_cell name = table->cells[row * table->column_count];
            roast__grid_put(grid, roast__text_or(name, "-"));
            continue;
        }
        double value = roast__shown_number(roast__cell(table, row, shown->column));
        if (shown->of_all)
            value /= sum_of(table, shown->column);
        roast__grid_put_number(grid, value * shown->scale, shown->unit);
    }
}

static void put_rows(struct roast_buf *buf, const struct group_block *block,
                     const struct roast_table *table)
{
    struct roast_column columns[ROAST_GRID_MAX_COLUMNS] = {{0}};
    struct roast_grid grid = {.columns = columns, .column_count = block->column_count};
    bool by_other = block->rank_else && !(sum_of(table, block->rank_by) > 0);
    struct roast_ranked ranks =
        ranked_by(table, by_other ? block->rank_else : block->rank_by);
    size_t row = ROAST_NO_RANK;

    fill_columns(columns, block);
    for (size_t i = 0; i < table->row_count && i < block->most_rows; i++) {
        row = roast__next_in_rank(&ranks, row);
        put_group_row(&grid, block, table, row);
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

void roast__put_group(struct roast_buf *buf, const struct roast_shown *shown,
                      enum roast_group group)
{
    const struct group_block *block = &group_blocks[group];
    const struct roast_table *table = roast__find_table(shown, block->table);

    if (!table || table->row_count < block->fewest_rows || table->column_count == 0)
        return;
    if (block->title)
        roast__put_title(buf, block->title);
    put_rows(buf, block, table);
    if (table->row_count > block->most_rows)
        roast__put_count_line(buf, table->row_count - block->most_rows, "more");
}
