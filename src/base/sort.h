/* SPDX-License-Identifier: BSD-3-Clause */
/* sort.h - many items in the order of a number each, digit by digit.
 *
 * A run has a million of them, and they come nearly in order: this is ten times as quick
 * as comparing. Items that are equal stay in the order they were in, so what else is to
 * be in order is sorted first. */
#ifndef ROAST_BASE_SORT_H
#define ROAST_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct roast_keyed {
    int64_t key;
    uint32_t item; /* what it is the key of; may be anything */
};

/* So many, and behind them room for sorting as many; returns owned, for roast__free().
 * NULL when out of memory. */
struct roast_keyed *roast__keyed_new(size_t count);

/* Sorts them; `room` is for as many. */
void roast__keyed_sort(struct roast_keyed *keyed, struct roast_keyed *room,
                       size_t count);

#endif
