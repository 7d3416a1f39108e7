/* SPDX-License-Identifier: BSD-3-Clause */
/* ranked_tables.c - rows of tables, the largest first: page_tables.def, and the ranking
 * that slices use too. */
#include <math.h>

#include "report/layout.h"
#include "table/table.h"

enum { NAME_COLUMNS = 26, NUMBER_COLUMNS = 11 };

enum shown_as { SHOWN_VALUE, SHOWN_SHARE };
enum order { ORDER_LARGEST, ORDER_KNOWN, ORDER_LISTED };

static const struct shown_column {
    int col;
    enum roast_ranked_table table;
    enum shown_as shown_as;
    const char *heading;
} shown_columns[] = {
#define T(id, table, title, least, brief, order, rank_by, rank_else, text)
#define C(id, table, column, kind, heading) \
    {ROAST_COL_##table##_##column, ROAST_RANKED_##id, SHOWN_##kind, (heading)},
#include "report/page_tables.def"
#undef C
#undef T
};
enum { SHOWN_COLUMNS = sizeof(shown_columns) / sizeof(shown_columns[0]) };

static const struct ranked_table {
    const char *title; /* NULL: continues the part above */
    size_t least_rows; /* shown from this many rows on */
    size_t brief_rows; /* on the short page */
    enum roast_table_id table;
    enum order order;
    int rank_by;
    int rank_else;
} ranked_tables[] = {
#define T(id, table, title, least, brief, order, rank_by, rank_else, text) \
    {(title), \
     (least), \
     (brief), \
     ROAST_TABLE_##table, \
     ORDER_##order, \
     ROAST_COL_##table##_##rank_by, \
     ROAST_COL_##table##_##rank_else},
#define C(id, table, column, kind, heading)
#include "report/page_tables.def"
#undef C
#undef T
};

static double rank_of(const struct roast_ranking *ranking, size_t index)
{
    double value =
        ranking->in_row
            ? roast_table_number(ranking->table, 0, ranking->col + (int)index)
            : roast_table_number(ranking->table, index, ranking->col);

    return isnan(value) ? -INFINITY : value;
}

size_t roast__next_in_rank(const struct roast_ranking *ranking, size_t after)
{
    bool first = after == ROAST_NO_RANK;
    double limit = first ? INFINITY : rank_of(ranking, after);
    double best_rank = -INFINITY;
    size_t best = ROAST_NO_RANK;

    for (size_t i = 0; i < ranking->count; i++) {
        double rank = rank_of(ranking, i);
        bool follows = first || rank < limit || (rank == limit && i > after);
        if (follows && (best == ROAST_NO_RANK || rank > best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* The sum of the positive values. */
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

/* How many rows a table has on the full page. */
static size_t count_rows(const struct ranked_table *ranked, const roast_table *table)
{
    size_t count = 0;

    if (ranked->order != ORDER_KNOWN)
        return roast_table_rows(table);
    for (size_t row = 0; row < roast_table_rows(table); row++)
        count += isnan(roast_table_number(table, row, ranked->rank_by)) ? 0 : 1;
    return count;
}

/* A number in the unit of its column; ratios as percent. */
static void put_value(struct roast_grid *grid, const roast_table *table, size_t row,
                      const struct shown_column *shown, double sum)
{
    enum roast_table_id id = ranked_tables[shown->table].table;
    size_t number = (size_t)(shown->col - roast__table_first(id));
    const char *unit = roast__table_info(id, number).unit;
    double value = roast_table_number(table, row, shown->col);
    bool is_share = shown->shown_as == SHOWN_SHARE;

    if (is_share || strcmp(unit, "ratio") == 0)
        roast__grid_put_number(grid, 100 * value / (is_share ? sum : 1), "%");
    else
        roast__grid_put_number(grid, value, strcmp(unit, "bytes") == 0 ? "B" : unit);
}

void roast__put_ranked_table(struct roast_buf *buf,
                             const struct roast_page_input *input,
                             enum roast_ranked_table which)
{
    const struct ranked_table *ranked = &ranked_tables[which];
    const roast_table *table = input->tables[ranked->table];
    size_t most = roast__most_rows(input, ranked->brief_rows);
    size_t rows = count_rows(ranked, table);
    struct roast_grid_column columns[SHOWN_COLUMNS] = {{0}};
    const struct shown_column *shown[SHOWN_COLUMNS] = {NULL};
    double sums[SHOWN_COLUMNS] = {0};
    struct roast_grid grid = {.columns = columns};

    if (rows < ranked->least_rows)
        return;
    if (ranked->title)
        roast__put_title(buf, ranked->title);
    for (size_t i = 0; i < SHOWN_COLUMNS; i++) {
        size_t number = grid.column_count;
        if (shown_columns[i].table != which)
            continue;
        shown[number] = &shown_columns[i];
        if (shown_columns[i].shown_as == SHOWN_SHARE)
            sums[number] = sum_of(table, shown_columns[i].col);
        columns[number] = (struct roast_grid_column){
            .heading = shown_columns[i].heading,
            .max_columns = number == 0 ? NAME_COLUMNS : NUMBER_COLUMNS,
            .right = number > 0,
            .cut = number == 0 ? ROAST_CUT_MIDDLE : ROAST_CUT_END,
        };
        grid.column_count++;
    }
    bool has_rank = sum_of(table, ranked->rank_by) > 0;
    struct roast_ranking ranks = {table, has_rank ? ranked->rank_by : ranked->rank_else,
                                  roast_table_rows(table), false};
    size_t row = ROAST_NO_RANK;
    for (size_t i = 0; i < rows && i < most; i++) {
        row = ranked->order == ORDER_LISTED ? i : roast__next_in_rank(&ranks, row);
        roast__grid_put(&grid, roast__cell_text(table, row, shown[0]->col));
        for (size_t k = 1; k < grid.column_count; k++)
            put_value(&grid, table, row, shown[k], sums[k]);
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    roast__put_more(buf, input, rows, most);
}
