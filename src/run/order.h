/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h - the attempts of a run in order of their start, and which try each was. */
#ifndef ROAST_RUN_ORDER_H
#define ROAST_RUN_ORDER_H

#include "run/run.h"

/* Zeroed = empty and valid. */
struct roast_order {
    uint32_t *rows;    /* owned; all rows: by start, then process and sequence */
    uint32_t *attempt; /* owned; by row: 1, 2 ... among all of the run at a chunk */
    size_t count;
};

/* Sorts rows in that order; those with unknown start come last. False when out of
 * memory. */
bool roast__rows_sort(uint32_t *rows, size_t count,
                      const struct roast_attempts *attempts);

/* Orders all rows; names are resolved first. The lock is held. */
int roast__order_make(struct roast_order *out, struct roast_run *run, roast_error *err);

void roast__order_release(struct roast_order *order);

#endif
