/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.h - seconds that add up, as bars: of the chunks, and of all workers. */
#ifndef ROAST_REPORT_SLICES_H
#define ROAST_REPORT_SLICES_H

#include "report/blocks.h"

/* A table of one row with a column for each slice. Borrowed. */
struct roast_slices {
    const roast_table *table;
    int first;                        /* column of the first slice */
    int count;                        /* of slices */
    double total;                     /* of which shares are, > 0 */
    double smallest_share;            /* a slice below it is one of the rest */
    size_t most;                      /* that are shown by themselves */
    size_t bar_columns;               /* of one that is all, at most 40 */
    const char *rest_words;           /* "3 others" */
    const char *(*shown)(int number); /* the words for a slice */
    int left_out;                     /* column that the caller shows; 0: none */
};

void roast__put_slices(struct roast_buf *buf, const struct roast_slices *slices);

double roast__amount(double value); /* 0 for what is no amount */
/* Of the columns of the first row; 0 where there is none. */
double roast__row_sum(const roast_table *table);
/* "12.3 %"; the point is not that of a locale. */
void roast__format_share(char out[ROAST_NUMBER_BYTES], double share);

#endif
