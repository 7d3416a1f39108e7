/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_names.c - names that come again and again, by number. */
#include "collect/measurement_names.h"

#include <string.h>

#include "base/checksum.h"

enum { FIRST_SLOTS = 16 };

size_t roast__name_set_count(const struct roast_name_set *set)
{
    return set->names.size_bytes / sizeof(struct roast_kept);
}

struct roast_str roast__name_set_get(const struct roast_name_set *set, size_t number)
{
    const struct roast_kept *names = (const void *)set->names.data;

    return roast__texts_get(&set->texts, names[number]);
}

static size_t slot_count(const struct roast_name_set *set)
{
    return set->slots.size_bytes / sizeof(uint32_t);
}

/* The slot of a name, or the free one where it belongs. */
static uint32_t *find_slot(const struct roast_name_set *set, struct roast_str name)
{
    uint32_t *slots = (void *)set->slots.data;
    size_t mask = slot_count(set) - 1;
    size_t at = (size_t)roast__hash64(name.data, name.size_bytes) & mask;

    while (slots[at] != 0 &&
           !roast__str_equal(roast__name_set_get(set, slots[at] - 1), name))
        at = (at + 1) & mask;
    return &slots[at];
}

static bool grow_slots(struct roast_name_set *set)
{
    size_t count = roast__name_set_count(set);
    size_t want = slot_count(set);

    if (4 * (count + 1) <= 3 * want)
        return true;
    want = want > 0 ? 2 * want : FIRST_SLOTS;
    roast__buf_reserve(&set->slots, want * sizeof(uint32_t) - set->slots.size_bytes);
    if (!roast__buf_ok(&set->slots))
        return false;
    set->slots.size_bytes = want * sizeof(uint32_t);
    memset(set->slots.data, 0, set->slots.size_bytes);
    for (size_t i = 0; i < count; i++)
        *find_slot(set, roast__name_set_get(set, i)) = (uint32_t)(i + 1);
    return true;
}

int64_t roast__name_set_number(struct roast_name_set *set, struct roast_str name)
{
    struct roast_str clean = roast__texts_clean(&set->texts, name);
    size_t count = roast__name_set_count(set);

    if (!clean.data || count >= UINT32_MAX - 1)
        return -1;
    if (set->guess < count &&
        roast__str_equal(roast__name_set_get(set, set->guess), clean))
        return (int64_t)set->guess++;
    if (!grow_slots(set))
        return -1;
    uint32_t *slot = find_slot(set, clean);
    if (*slot == 0) {
        struct roast_kept kept = roast__texts_keep(&set->texts, clean);
        roast__buf_put(&set->names, &kept, sizeof(kept));
        if (set->texts.bytes.failed || !roast__buf_ok(&set->names))
            return -1;
        *slot = (uint32_t)(count + 1);
    }
    set->guess = *slot;
    return *slot - 1;
}

void roast__name_set_release(struct roast_name_set *set)
{
    roast__texts_release(&set->texts);
    roast__buf_release(&set->names);
    roast__buf_release(&set->slots);
}
