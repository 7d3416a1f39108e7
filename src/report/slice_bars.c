/* SPDX-License-Identifier: BSD-3-Clause */
/* slice_bars.c - slices of time as bars, the longest first. Small slices are added up in
 * one row, so that the sum is complete. */
#include "report/slice_bars.h"

#include <math.h>
#include <stdio.h>

enum { MOST_BAR_COLUMNS = 40, LABEL_BYTES = 64 };

double roast__positive(double value)
{
    return isfinite(value) && value > 0 ? value : 0;
}

double roast__row_sum(const roast_table *table)
{
    double sum = 0;

    for (size_t i = 0; roast_table_rows(table) > 0 && i < roast_table_width(table); i++)
        sum += roast__positive(roast_table_number(table, 0, roast_table_col(table, i)));
    return isfinite(sum) ? sum : 0;
}

static void put_slice(struct roast_grid *grid, const struct roast_slices *slices,
                      int number, double seconds)
{
    double share = seconds / slices->total;
    size_t columns = (size_t)lround(fmin(share, 1) * (double)slices->bar_columns);
    char bar[MOST_BAR_COLUMNS + 1];

    memset(bar, '#', columns);
    bar[columns] = '\0';
    roast__grid_put(grid, roast_str_of(slices->label(number)));
    roast__grid_put_number(grid, seconds, "s");
    roast__grid_put_number(grid, 100 * share, "%");
    roast__grid_put(grid, roast_str_of(bar));
}

void roast__put_slices(struct roast_buf *buf, const struct roast_slices *slices)
{
    static const struct roast_grid_column columns[] = {
        {.max_columns = 28, .cut = ROAST_CUT_MIDDLE},
        {.max_columns = 9, .right = true},
        {.max_columns = 9, .right = true},
        {.max_columns = MOST_BAR_COLUMNS},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    struct roast_ranking ranks = {slices->table, slices->first, (size_t)slices->count,
                                  true};
    size_t slice = ROAST_NO_RANK;
    size_t bars = 0;
    size_t other_count = 0;
    double others_s = 0;

    while ((slice = roast__next_in_rank(&ranks, slice)) != ROAST_NO_RANK) {
        int col = slices->first + (int)slice;
        double seconds = roast__positive(roast_table_number(slices->table, 0, col));
        if (col == slices->skipped_col)
            continue;
        if (bars < slices->max_bars &&
            seconds / slices->total >= slices->smallest_share) {
            put_slice(&grid, slices, (int)slice, seconds);
            bars++;
        } else if (seconds > 0) {
            other_count++;
            others_s += seconds;
        }
    }
    char label[LABEL_BYTES];
    if (other_count != 0) {
        (void)snprintf(label, sizeof(label), "%zu %s", other_count,
                       slices->others_label);
        roast__grid_put(&grid, roast_str_of(label));
        roast__grid_put_number(&grid, others_s, "s");
        roast__grid_put_number(&grid, 100 * others_s / slices->total, "%");
        roast__grid_put(&grid, roast_str_of(""));
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}
