/* SPDX-License-Identifier: BSD-3-Clause */
/* hash_table.h - finds an item of an array by its hash.
 *
 * Open addressing over item numbers: the array has the items, the table their
 * positions. A search iterates from roast__hash_first() with roast__hash_next() to a
 * free slot; the caller compares the items, so several items may share a hash.
 *
 * Hash keys are random in every process, so that a file cannot be made to collide.
 * Hashes never leave the process. */
#ifndef ROAST_BASE_HASH_TABLE_H
#define ROAST_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast/text.h"

/* Zeroed = empty and valid. */
struct roast_hash_table {
    uint32_t *items; /* owned; item + 1, 0 = free */
    size_t count;    /* a power of two, or 0 */
};

uint64_t roast__hash_bytes(struct roast_str bytes);
uint64_t roast__hash_number(uint64_t value);

/* Iterates over the items that may have this hash: at = first, then next, while
 * roast__hash_holds(). */
static inline size_t roast__hash_first(const struct roast_hash_table *table,
                                       uint64_t hash)
{
    return (size_t)hash & (table->count - 1);
}

static inline bool roast__hash_holds(const struct roast_hash_table *table, size_t at)
{
    return table->count > 0 && table->items[at] != 0;
}

static inline uint32_t roast__hash_item(const struct roast_hash_table *table, size_t at)
{
    return table->items[at] - 1;
}

static inline size_t roast__hash_next(const struct roast_hash_table *table, size_t at)
{
    return (at + 1) & (table->count - 1);
}

/* The hash of an item of the array that the table belongs to. */
typedef uint64_t roast__item_hash(const void *array, uint32_t item);

/* Makes room for one item more than `used`; false when out of memory. */
bool roast__hash_room(struct roast_hash_table *table, size_t used,
                      roast__item_hash *hash_of, const void *array);

/* Adds a new item; there must be room. */
void roast__hash_put(struct roast_hash_table *table, uint64_t hash, uint32_t item);

void roast__hash_release(struct roast_hash_table *table);

#endif
