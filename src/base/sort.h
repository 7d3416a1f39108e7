/* SPDX-License-Identifier: BSD-3-Clause */
/* sort.h - sorts many items by an integer key each.
 *
 * A run has a million of them, nearly in order: this is ten times as fast as comparing.
 * Equal keys keep their order: to sort by a second key, sort by it first. */
#ifndef ROAST_BASE_SORT_H
#define ROAST_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct roast_keyed {
    int64_t key;
    uint32_t item; /* any number */
};

/* Room for `count` items and, behind them, for sorting as many. Returns owned, for
 * roast__free(); NULL when out of memory. */
struct roast_keyed *roast__keyed_new(size_t count);

/* Sorts in place; `room` holds as many items. */
void roast__keyed_sort(struct roast_keyed *keyed, struct roast_keyed *room,
                       size_t count);

#endif
