/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - a binary heap over an array of the caller: heap[0] has the smallest key.
 *
 * Of equal keys the larger item comes first, so the content of a bounded heap does not
 * depend on the order of insertion. */
#ifndef ROAST_ANALYZE_HEAP_H
#define ROAST_ANALYZE_HEAP_H

#include "base/sort.h"

/* There must be room for one more. */
void roast__heap_push(struct roast_keyed *heap, size_t *count,
                      struct roast_keyed added);

/* Restores the order after heap[0] was replaced. */
void roast__heap_sift_down(struct roast_keyed *heap, size_t count);

struct roast_keyed roast__heap_pop(struct roast_keyed *heap, size_t *count);

/* Keeps the `cap` items with the largest keys. */
void roast__heap_push_bounded(struct roast_keyed *heap, size_t *count, size_t cap,
                              struct roast_keyed added);

/* Sorts a heap, the largest key first; it is no heap afterwards. */
void roast__heap_sort(struct roast_keyed *heap, size_t count);

#endif
