/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.c - finds an item of a table by its hash: growth of the slots. */
#include "run/slots.h"

#include "base/mem.h"

enum { SMALLEST_COUNT = 32 };

void roast__slots_put(struct roast_slots *slots, uint64_t hash, uint32_t item)
{
    size_t at = roast__slots_first(slots, hash);

    while (slots->items[at] != 0)
        at = roast__slots_next(slots, at);
    slots->items[at] = item + 1;
}

/* At most three quarters are used, so that every walk ends soon. */
bool roast__slots_room(struct roast_slots *slots, size_t used,
                       roast__slot_hash *hash_of, const void *table)
{
    struct roast_slots more = {NULL,
                               slots->count > 0 ? slots->count * 2 : SMALLEST_COUNT};

    if (used < slots->count / 4 * 3)
        return true;
    if (more.count > SIZE_MAX / sizeof(*more.items))
        return false;
    more.items = roast__alloc(more.count * sizeof(*more.items));
    if (!more.items)
        return false;
    for (size_t at = 0; at < slots->count; at++) {
        if (slots->items[at] != 0) {
            uint32_t item = roast__slots_item(slots, at);
            roast__slots_put(&more, hash_of(table, item), item);
        }
    }
    roast__slots_release(slots);
    *slots = more;
    return true;
}

void roast__slots_release(struct roast_slots *slots)
{
    roast__free(slots->items);
    *slots = (struct roast_slots){NULL, 0};
}
