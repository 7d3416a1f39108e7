/* SPDX-License-Identifier: BSD-3-Clause */
/* ranked_tables.c - tables with their largest rows: sections, datasets, branches,
 * endpoints.
 *
 * Each is a row of `ranked_tables`. Further rows are counted. */
#include <math.h>

#include "report/layout.h"

enum { MANY_ROWS = 20, FEW_ROWS = 5, NAME_COLUMNS = 26, NUMBER_COLUMNS = 11 };

struct shown_column {
    const char *heading;
    int col; /* the first one is the name of the row */
    const char *unit;
    double scale;
    bool is_share; /* divided by the sum over all rows */
};

static const struct ranked_table {
    enum roast_table_id table;
    const char *title;  /* NULL: continues the part above */
    size_t fewest_rows; /* shown from this many rows on, */
    size_t most_rows;
    bool only_ranked; /* ... that have a value in rank_by; other rows are left out */
    int rank_by;
    int rank_else; /* used where rank_by is 0 in all rows; may be the same */
    size_t column_count;
    struct shown_column columns[ROAST_GRID_MAX_COLUMNS];
} ranked_tables[] = {
#define COL(name) ROAST_COL_section_totals_##name
    {ROAST_TABLE_section_totals,
     "Sections",
     1,
     MANY_ROWS,
     false,
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
     false,
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
     false,
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
     false,
     COL(bytes),
     COL(requests),
     5,
     {{"storage", COL(endpoint), "", 1, false},
      {"requests", COL(requests), "", 1, false},
      {"mean size", COL(mean_request_bytes), "B", 1, false},
      {"wait", COL(wait_seconds), "s", 1, false},
      {"errors", COL(errors), "", 1, false}}},
#undef COL
#define COL(name) ROAST_COL_section_totals_##name
    {ROAST_TABLE_section_totals,
     "Memory of sections",
     1,
     MANY_ROWS,
     true,
     COL(memory_peak_mb),
     COL(memory_peak_mb),
     4,
     {{"name", COL(name), "", 1, false},
      {"calls", COL(count), "", 1, false},
      {"change", COL(memory_delta_mb), "MiB", 1, false},
      {"peak", COL(memory_peak_mb), "MiB", 1, false}}},
#undef COL
#define COL(name) ROAST_COL_recorded_metrics_##name
    {ROAST_TABLE_recorded_metrics,
     "Recorded metrics",
     1,
     MANY_ROWS,
     true,
     COL(mean),
     COL(mean),
     5,
     {{"name", COL(name), "", 1, false},
      {"chunks", COL(count), "", 1, false},
      {"mean", COL(mean), "", 1, false},
      {"lowest", COL(min), "", 1, false},
      {"highest", COL(max), "", 1, false}}},
#undef COL
#define COL(name) ROAST_COL_calls_##name
    {ROAST_TABLE_calls,
     "Calls of the Runner",
     2,
     MANY_ROWS,
     false,
     COL(state), /* no number: by their start */
     COL(state),
     6,
     {{"state", COL(state), "", 1, false},
      {"after", COL(after), "s", 1, false},
      {"wall time", COL(wall_time), "s", 1, false},
      {"chunks", COL(num_chunks), "", 1, false},
      {"events", COL(total_events), "", 1, false},
      {"failures", COL(failures), "", 1, false}}},
#undef COL
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

static size_t count_known(const roast_table *table, int col)
{
    size_t known = 0;

    for (size_t row = 0; row < roast_table_rows(table); row++)
        known += isnan(roast_table_number(table, row, col)) ? 0 : 1;
    return known;
}

void roast__put_ranked_table(struct roast_buf *buf,
                             const struct roast_page_input *input,
                             enum roast_ranked_table which)
{
    const struct ranked_table *ranked = &ranked_tables[which];
    const roast_table *table = input->tables[ranked->table];

    size_t rows = ranked->only_ranked ? count_known(table, ranked->rank_by)
                                      : roast_table_rows(table);

    if (rows < ranked->fewest_rows)
        return;
    if (ranked->title)
        roast__put_title(buf, ranked->title);
    struct roast_grid_column columns[ROAST_GRID_MAX_COLUMNS] = {{0}};
    struct roast_grid grid = {.columns = columns, .column_count = ranked->column_count};
    bool has_rank = sum_of(table, ranked->rank_by) > 0;
    struct roast_ranking ranks = {table, has_rank ? ranked->rank_by : ranked->rank_else,
                                  roast_table_rows(table), false};
    size_t row = ROAST_NO_RANK;
    for (size_t i = 0; i < ranked->column_count; i++) {
        bool name = i == 0;
        columns[i] = (struct roast_grid_column){
            .heading = ranked->columns[i].heading,
            .max_columns = name ? NAME_COLUMNS : NUMBER_COLUMNS,
            .right = !name,
            .cut = name ? ROAST_CUT_MIDDLE : ROAST_CUT_END,
        };
    }
    for (size_t i = 0; i < rows && i < ranked->most_rows; i++) {
        row = roast__next_in_rank(&ranks, row);
        roast__grid_put(&grid, roast__cell_text(table, row, ranked->columns[0].col));
        for (size_t k = 1; k < ranked->column_count; k++) {
            const struct shown_column *shown = &ranked->columns[k];
            double value = roast_table_number(table, row, shown->col);
            if (shown->is_share)
                value /= sum_of(table, shown->col);
            roast__grid_put_number(&grid, value * shown->scale, shown->unit);
        }
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    if (rows > ranked->most_rows)
        roast__put_line(buf, "  %zu more", rows - ranked->most_rows);
}
