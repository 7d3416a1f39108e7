/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.h - finds an item of a table by its hash.
 *
 * Open addressing over item numbers: the table keeps the items, this keeps where they
 * are. Whoever searches walks from roast__slots_first() over roast__slots_next() until
 * a free slot and compares the items itself, so that several items may share a hash. */
#ifndef ROAST_RUN_SLOTS_H
#define ROAST_RUN_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed = empty and valid. */
struct roast_slots {
    uint32_t *items; /* owned; item + 1, 0 = free */
    size_t count;    /* a power of two, or 0 */
};

/* Walks the items whose hash may be this one: at = first, then next, while it holds. */
static inline size_t roast__slots_first(const struct roast_slots *slots, uint64_t hash)
{
    return (size_t)hash & (slots->count - 1);
}

static inline bool roast__slots_holds(const struct roast_slots *slots, size_t at)
{
    return slots->count > 0 && slots->items[at] != 0;
}

static inline uint32_t roast__slots_item(const struct roast_slots *slots, size_t at)
{
    return slots->items[at] - 1;
}

static inline size_t roast__slots_next(const struct roast_slots *slots, size_t at)
{
    return (at + 1) & (slots->count - 1);
}

/* Spreads numbers that lie close together. */
static inline uint64_t roast__slots_mix(uint64_t value)
{
    value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ (value >> 32);
}

/* The hash of an item of the table that the slots belong to. */
typedef uint64_t roast__slot_hash(const void *table, uint32_t item);

/* Makes room for one item more than `used`; false when out of memory. */
bool roast__slots_room(struct roast_slots *slots, size_t used,
                       roast__slot_hash *hash_of, const void *table);

/* Puts an item that is not there; there must be room. */
void roast__slots_put(struct roast_slots *slots, uint64_t hash, uint32_t item);

void roast__slots_release(struct roast_slots *slots);

#endif
