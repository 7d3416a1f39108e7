/* SPDX-License-Identifier: BSD-3-Clause */
/* top_n.h - the latest few of many moments, in room for these few. */
#ifndef ROAST_ANALYZE_TOP_N_H
#define ROAST_ANALYZE_TOP_N_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_timed_row {
    int64_t time_ns;
    uint32_t row;
};

/* A heap: items[0] is the earliest of those that are kept. Of equal moments the lower
 * row is the later one, so that what is kept does not depend on the order. Zeroed =
 * empty and valid. */
struct roast_top_n {
    struct roast_timed_row *items; /* owned */
    size_t count;
    size_t cap;
};

/* Keeps `cap` of them, at least one; false when out of memory. */
bool roast__top_n_init(struct roast_top_n *top, size_t cap);
void roast__top_n_release(struct roast_top_n *top);

void roast__top_n_add(struct roast_top_n *top, int64_t time_ns, uint32_t row);

/* Ends the keeping: the latest one first. */
void roast__top_n_sort(struct roast_top_n *top);

#endif
