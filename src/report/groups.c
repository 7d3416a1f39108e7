/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - tables whose rows are ranked: sections, datasets, branches, endpoints.
 *
 * What differs between them is a row of `group_blocks`. The rows that matter most are
 * shown, the rest is counted. */
#include <math.h>

#include "report/blocks.h"

enum { MANY_ROWS = 20, FEW_ROWS = 5, NAME_COLUMNS = 26, NUMBER_COLUMNS = 11 };

struct group_value {
    const char *heading;
    int col; /* the first column is the name of the row */
    const char *unit;
    double scale;
    bool of_all; /* divided by the sum over all rows */
};

struct group_block {
    enum roast_table_id table;
    const char *title;  /* NULL: goes on in the block above */
    size_t fewest_rows; /* shown from this many rows on */
    size_t most_rows;
    int rank_by;
    int rank_else; /* what ranks where no row has any of rank_by; may be the same */
    size_t column_count;
    struct group_value values[ROAST_GRID_MAX_COLUMNS];
};

/* In the order of enum roast_group. */
static const struct group_block group_blocks[] = {
#define COL(name) ROAST_COL_section_totals_##name
    {ROAST_TABLE_section_totals,
     "Sections",
     1,
     MANY_ROWS,
     COL(total),
     COL(total),
     5,
     {{"name", COL(name), "", 1, false},
      {"calls", COL(count), "", 1, false},
      {"total", COL(total), "s", 1, false},
      {"itself", COL(self), "s", 1, false},
      {"share", COL(share), "%", 100, false}}},
#undef COL
#define COL(name) ROAST_COL_datasets_##name
    {ROAST_TABLE_datasets,
     "Datasets",
     2,
     MANY_ROWS,
     COL(total_duration),
     COL(total_duration),
     5,
     {{"name", COL(dataset), "", 1, false},
      {"chunks", COL(num_chunks), "", 1, false},
      {"events", COL(total_events), "", 1, false},
      {"process()", COL(total_duration), "s", 1, false},
      {"rate", COL(events_per_second), "Hz", 1, false}}},
#undef COL
#define COL(name) ROAST_COL_branch_costs_##name
    {ROAST_TABLE_branch_costs,
     NULL,
     1,
     FEW_ROWS,
     COL(bytes),
     COL(seconds),
     5,
     {{"branch", COL(branch), "", 1, false},
      {"bytes", COL(bytes), "B", 1, false},
      {"of columns", COL(bytes), "%", 100, true},
      {"time", COL(seconds), "s", 1, false},
      {"reads", COL(reads), "", 1, false}}},
#undef COL
#define COL(name) ROAST_COL_endpoints_##name
    {ROAST_TABLE_endpoints,
     NULL,
     1,
     FEW_ROWS,
     COL(bytes),
     COL(requests),
     5,
     {{"storage", COL(endpoint), "", 1, false},
      {"requests", COL(requests), "", 1, false},
      {"mean size", COL(mean_request_bytes), "B", 1, false},
      {"wait", COL(wait_seconds), "s", 1, false},
      {"errors", COL(errors), "", 1, false}}},
#undef COL
};

/* ---- ranks -------------------------------------------------------------------- */

static double rank_of(const struct roast_ranked *ranked, size_t index)
{
    double value = ranked->across
                       ? roast_table_number(ranked->table, 0, ranked->col + (int)index)
                       : roast_table_number(ranked->table, index, ranked->col);

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

/* The sum of what is known; what no table should hold counts nothing. */
static double sum_of(const roast_table *table, int col)
{
    double sum = 0;

    for (size_t row = 0; row < roast_table_rows(table); row++) {
        double value = roast_table_number(table, row, col);
        if (isfinite(value) && value > 0)
            sum += value;
    }
    return sum;
}

/* ---- blocks ------------------------------------------------------------------- */

static void put_group_row(struct roast_grid *grid, const struct group_block *block,
                          const roast_table *table, size_t row)
{
    for (size_t i = 0; i < block->column_count; i++) {
        const struct group_value *shown = &block->values[i];
        if (i == 0) {
            struct roast_str name = roast_table_text(table, row, shown->col);
            roast__grid_put(grid, roast__text_or(name, "-"));
            continue;
        }
        double value = roast_table_number(table, row, shown->col);
        if (shown->of_all)
            value /= sum_of(table, shown->col);
        roast__grid_put_number(grid, value * shown->scale, shown->unit);
    }
}

void roast__put_group(struct roast_buf *buf, const struct roast_shown *shown,
                      enum roast_group group)
{
    const struct group_block *block = &group_blocks[group];
    const roast_table *table = shown->tables[block->table];

    if (roast_table_rows(table) < block->fewest_rows)
        return;
    if (block->title)
        roast__put_title(buf, block->title);
    struct roast_grid_column columns[ROAST_GRID_MAX_COLUMNS] = {{0}};
    struct roast_grid grid = {.columns = columns, .column_count = block->column_count};
    bool has_rank = sum_of(table, block->rank_by) > 0;
    struct roast_ranked ranks = {table, has_rank ? block->rank_by : block->rank_else,
                                 roast_table_rows(table), false};
    size_t row = ROAST_NO_RANK;
    for (size_t i = 0; i < block->column_count; i++) {
        bool name = i == 0;
        columns[i] = (struct roast_grid_column){
            .heading = block->values[i].heading,
            .max_columns = name ? NAME_COLUMNS : NUMBER_COLUMNS,
            .right = !name,
            .cut = name ? ROAST_CUT_MIDDLE : ROAST_CUT_END,
        };
    }
    for (size_t i = 0; i < roast_table_rows(table) && i < block->most_rows; i++) {
        row = roast__next_in_rank(&ranks, row);
        put_group_row(&grid, block, table, row);
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    if (roast_table_rows(table) > block->most_rows)
        roast__put_count_line(buf, roast_table_rows(table) - block->most_rows, "more");
}
