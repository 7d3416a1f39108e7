/* SPDX-License-Identifier: BSD-3-Clause */
/* top_n.c - the latest few of many moments, in room for these few. */
#include "analyze/top_n.h"

#include <stdlib.h>

#include "base/mem.h"

bool roast__top_n_init(struct roast_top_n *top, size_t cap)
{
    top->items = roast__alloc(cap * sizeof(top->items[0]));
    top->cap = cap;
    top->count = 0;
    return top->items != NULL;
}

void roast__top_n_release(struct roast_top_n *top)
{
    roast__free(top->items);
    *top = (struct roast_top_n){.items = NULL};
}

/* The latest first. */
static int by_lateness(const void *a, const void *b)
{
    const struct roast_timed_row *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static bool is_earlier(const struct roast_timed_row *a, const struct roast_timed_row *b)
{
    return by_lateness(a, b) > 0;
}

static void swap(struct roast_timed_row *a, struct roast_timed_row *b)
{
    struct roast_timed_row held = *a;

    *a = *b;
    *b = held;
}

static void rise(struct roast_timed_row *items, size_t at)
{
    for (; at > 0 && is_earlier(&items[at], &items[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&items[at], &items[(at - 1) / 2]);
}

static void sink(struct roast_timed_row *items, size_t count)
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

void roast__top_n_add(struct roast_top_n *top, int64_t time_ns, uint32_t row)
{
    const struct roast_timed_row item = {time_ns, row};

    if (top->count < top->cap) {
        top->items[top->count] = item;
        rise(top->items, top->count++);
    } else if (is_earlier(&top->items[0], &item)) {
        top->items[0] = item;
        sink(top->items, top->count);
    }
}

void roast__top_n_sort(struct roast_top_n *top)
{
    if (top->count > 1)
        qsort(top->items, top->count, sizeof(top->items[0]), by_lateness);
}
