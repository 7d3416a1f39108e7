/* SPDX-License-Identifier: BSD-3-Clause */
/* pid_set.c - a set of pids in insertion order, used as a queue. */
#include "probe/linux/pid_set.h"

#include <string.h>

#include "base/mem.h"
#include "roast/process_tree.h"

enum { FIRST_SLOTS = 128 };

/* The slot that holds pid, or the empty one where it belongs. There always is one,
 * because at most half of the slots are taken. */
static uint32_t *find_slot(const struct roast_pid_set *pids, uint64_t pid)
{
    size_t mask = pids->slot_count - 1;
    size_t at = (size_t)((pid * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

    while (pids->slots[at] != 0 && pids->items[pids->slots[at] - 1] != pid)
        at = (at + 1) & mask;
    return &pids->slots[at];
}

static int grow(struct roast_pid_set *pids)
{
    size_t slot_count = pids->slot_count ? 2 * pids->slot_count : FIRST_SLOTS;
    uint64_t *items = roast__realloc(pids->items, slot_count / 2 * sizeof(*items));

    if (!items)
        return ROAST_NO_MEMORY;
    pids->items = items;
    uint32_t *slots = roast__alloc(slot_count * sizeof(*slots));
    if (!slots)
        return ROAST_NO_MEMORY;
    roast__free(pids->slots);
    pids->slots = slots;
    pids->slot_count = slot_count;
    for (size_t i = 0; i < pids->count; i++)
        *find_slot(pids, pids->items[i]) = (uint32_t)i + 1;
    return ROAST_OK;
}

int roast__pid_set_add(struct roast_pid_set *pids, uint64_t pid)
{
    if (pids->count == ROAST_PROCESS_TREE_MAX)
        return 0;
    if (2 * pids->count >= pids->slot_count && grow(pids) < 0)
        return ROAST_NO_MEMORY;
    uint32_t *slot = find_slot(pids, pid);
    if (*slot != 0)
        return 0;
    pids->items[pids->count++] = pid;
    *slot = (uint32_t)pids->count;
    return 1;
}

bool roast__pid_set_has(const struct roast_pid_set *pids, uint64_t pid)
{
    return pids->slot_count > 0 && *find_slot(pids, pid) != 0;
}

void roast__pid_set_clear(struct roast_pid_set *pids)
{
    if (pids->count > 0)
        memset(pids->slots, 0, pids->slot_count * sizeof(*pids->slots));
    pids->count = 0;
}

void roast__pid_set_release(struct roast_pid_set *pids)
{
    roast__free(pids->items);
    roast__free(pids->slots);
    memset(pids, 0, sizeof(*pids));
}
