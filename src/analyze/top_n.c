/* SPDX-License-Identifier: BSD-3-Clause */
/* top_n.c - the latest few of many moments, in room for these few. */
#include "analyze/top_n.h"

#include <stdlib.h>

#include "base/mem.h"

bool roast__latest_init(struct roast_latest *latest, size_t cap)
{
    latest->items = roast__alloc(cap * sizeof(latest->items[0]));
    latest->cap = cap;
    latest->count = 0;
    return latest->items != NULL;
}

void roast__latest_release(struct roast_latest *latest)
{
    roast__free(latest->items);
    *latest = (struct roast_latest){.items = NULL};
}

/* The latest first. */
static int by_lateness(const void *a, const void *b)
{
    const struct roast_late_row *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static bool is_earlier(const struct roast_late_row *a, const struct roast_late_row *b)
{
    return by_lateness(a, b) > 0;
}

static void swap(struct roast_late_row *a, struct roast_late_row *b)
{
    struct roast_late_row held = *a;

    *a = *b;
    *b = held;
}

static void rise(struct roast_late_row *items, size_t at)
{
    for (; at > 0 && is_earlier(&items[at], &items[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&items[at], &items[(at - 1) / 2]);
}

static void sink(struct roast_late_row *items, size_t count)
{
    for (size_t at = 0;;) {
        size_t earliest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < count && is_earlier(&items[child], &items[earliest]))
                earliest = child;
        }
        if (earliest == at)
            return;
        swap(&items[at], &items[earliest]);
        at = earliest;
    }
}

void roast__latest_add(struct roast_latest *latest, int64_t time_ns, uint32_t row)
{
    const struct roast_late_row item = {time_ns, row};

    if (latest->count < latest->cap) {
        latest->items[latest->count] = item;
        rise(latest->items, latest->count++);
    } else if (is_earlier(&latest->items[0], &item)) {
        latest->items[0] = item;
        sink(latest->items, latest->count);
    }
}

void roast__latest_sort(struct roast_latest *latest)
{
    if (latest->count > 1)
        qsort(latest->items, latest->count, sizeof(latest->items[0]), by_lateness);
}
