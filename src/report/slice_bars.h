/* SPDX-License-Identifier: BSD-3-Clause */
/* slice_bars.h - slices of time as bars: of the chunks, and of all workers. */
#ifndef ROAST_REPORT_SLICE_BARS_H
#define ROAST_REPORT_SLICE_BARS_H

#include "report/layout.h"

/* A table of one row with a column for each slice. Borrowed. */
struct roast_slices {
    const roast_table *table;
    int first;                        /* column of the first slice */
    int count;                        /* of slices */
    double total;                     /* 100 % of the shares, > 0 */
    double smallest_share;            /* smaller slices are added up */
    size_t max_bars;                  /* further slices are added up too */
    size_t bar_columns;               /* of 100 %, at most 40 */
    const char *others_label;         /* of the sum: "others" in "3 others" */
    const char *(*label)(int number); /* of a slice */
    int skipped_col;                  /* shown by the caller; 0: none */
};

void roast__put_slices(struct roast_buf *buf, const struct roast_slices *slices);

double roast__positive(double value); /* 0 for a negative or no finite number */
/* The sum of the columns of the first row; 0 without rows. */
double roast__row_sum(const roast_table *table);

#endif
