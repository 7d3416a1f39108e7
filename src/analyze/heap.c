/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c - a binary heap over an array of the caller. */
#include "analyze/heap.h"

#include <stdbool.h>

static bool is_before(struct roast_keyed a, struct roast_keyed b)
{
    return a.key != b.key ? a.key < b.key : a.item > b.item;
}

void roast__heap_push(struct roast_keyed *heap, size_t *count, struct roast_keyed added)
{
    size_t at = (*count)++;

    for (; at > 0 && is_before(added, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = added;
}

void roast__heap_sift_down(struct roast_keyed *heap, size_t count)
{
    struct roast_keyed moved = heap[0];
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

struct roast_keyed roast__heap_pop(struct roast_keyed *heap, size_t *count)
{
    struct roast_keyed first = heap[0];

    heap[0] = heap[--(*count)];
    roast__heap_sift_down(heap, *count);
    return first;
}

void roast__heap_push_bounded(struct roast_keyed *heap, size_t *count, size_t cap,
                              struct roast_keyed added)
{
    if (*count < cap) {
        roast__heap_push(heap, count, added);
    } else if (is_before(heap[0], added)) {
        heap[0] = added;
        roast__heap_sift_down(heap, *count);
    }
}

void roast__heap_sort(struct roast_keyed *heap, size_t count)
{
    while (count > 0) {
        struct roast_keyed first = roast__heap_pop(heap, &count);
        heap[count] = first;
    }
}
