/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.c - finds and adds up branches. */
#include "probe/ladder/branches.h"

#include "base/checksum.h"
#include "base/mem.h"
#include "base/str.h"

enum { FIRST_CAP = 64, SLOTS_PER_BRANCH = 2 }; /* powers of two */

void roast__branches_release(struct roast_branches *table)
{
    roast__free(table->sums);
    roast__free(table->keys);
    roast__free(table->slots);
    roast__buf_release(&table->names);
    memset(table, 0, sizeof(*table));
}

void roast__branches_clear(struct roast_branches *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->slots[table->keys[i].slot] = 0;
    table->count = 0;
    table->lost = 0;
    table->names_cut = 0;
    roast__buf_clear(&table->names);
}

static struct roast_str name_of(const struct roast_branches *table, uint32_t branch)
{
    struct roast_str name = {(const char *)table->names.data +
                                 table->keys[branch].name_at,
                             table->sums[branch].name.size_bytes};
    return name;
}

static uint32_t first_slot(uint64_t hash, uint32_t cap)
{
    return (uint32_t)(hash ^ (hash >> 32)) & (cap * SLOTS_PER_BRANCH - 1);
}

static uint32_t next_slot(uint32_t slot, uint32_t cap)
{
    return (slot + 1) & (cap * SLOTS_PER_BRANCH - 1);
}

/* The slot that holds the branch, or the free one where it belongs. There are more
 * slots than branches, so the search ends. */
static uint32_t find_slot(const struct roast_branches *table, uint64_t hash,
                          struct roast_str name)
{
    uint32_t slot = first_slot(hash, table->cap);

    for (; table->slots[slot] != 0; slot = next_slot(slot, table->cap)) {
        uint32_t branch = table->slots[slot] - 1u;
        if (table->keys[branch].hash == hash &&
            roast__str_equal(name_of(table, branch), name))
            break;
    }
    return slot;
}

/* False when out of memory; arrays that were already enlarged remain so. */
static bool grow(struct roast_branches *table)
{
    uint32_t cap = table->cap > 0 ? 2 * table->cap : FIRST_CAP;
    void *branches = roast__realloc(table->sums, cap * sizeof(*table->sums));

    if (!branches)
        return false;
    table->sums = branches;
    void *keys = roast__realloc(table->keys, cap * sizeof(*table->keys));
    if (!keys)
        return false;
    table->keys = keys;
    uint16_t *slots = roast__alloc(cap * SLOTS_PER_BRANCH * sizeof(*slots));
    if (!slots)
        return false;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t slot = first_slot(table->keys[i].hash, cap);
        while (slots[slot] != 0)
            slot = next_slot(slot, cap);
        slots[slot] = (uint16_t)(i + 1);
        table->keys[i].slot = slot;
    }
    roast__free(table->slots);
    table->slots = slots;
    table->cap = cap;
    return true;
}

static int32_t add_branch(struct roast_branches *table, uint32_t slot, uint64_t hash,
                          struct roast_str name)
{
    uint32_t branch = table->count;
    size_t name_at = table->names.size_bytes;

    roast__buf_put(&table->names, name.data, name.size_bytes);
    if (!roast__buf_ok(&table->names)) {
        table->names.failed = false; /* the names before it are complete */
        table->lost++;
        return -1;
    }
    table->keys[branch] = (struct roast_branch_key){hash, name_at, slot};
    table->sums[branch] = (struct roast_branch){.name = {NULL, name.size_bytes}};
    table->slots[slot] = (uint16_t)++table->count;
    return (int32_t)branch;
}

int32_t roast__branches_find(struct roast_branches *table, struct roast_str name)
{
    struct roast_str kept = roast_str_cut(name, ROAST_CUT_BRANCH_BYTES);
    uint32_t slot = 0;

    if (name.size_bytes == 0)
        return -1;
    uint64_t hash = roast__hash64(kept.data, kept.size_bytes);
    if (table->cap > 0) {
        slot = find_slot(table, hash, kept);
        if (table->slots[slot] != 0)
            return table->slots[slot] - 1;
    }
    if (table->count >= ROAST_MAX_BRANCHES ||
        (table->count >= table->cap && !grow(table))) {
        table->lost++;
        return -1;
    }
    table->names_cut += kept.size_bytes < name.size_bytes;
    return add_branch(table, find_slot(table, hash, kept), hash, kept);
}

static bool is_branch(const struct roast_branches *table, int32_t branch)
{
    return branch >= 0 && (uint32_t)branch < table->count;
}

void roast__branches_add(struct roast_branches *table, int32_t branch,
                         const struct roast_branch *more)
{
    if (!is_branch(table, branch))
        return;
    struct roast_branch *sum = &table->sums[branch];
    sum->flags |= more->flags;
    sum->reads += more->reads;
    sum->bytes += more->bytes;
    sum->uncompressed_bytes += more->uncompressed_bytes;
    sum->ns += more->ns;
    if (!more->sizes_known)
        return;
    sum->sizes_known = true;
    sum->file_bytes = more->file_bytes;
    sum->file_uncompressed_bytes = more->file_uncompressed_bytes;
}

bool roast__branches_sized(const struct roast_branches *table, int32_t branch)
{
    return is_branch(table, branch) && table->sums[branch].sizes_known;
}

const struct roast_branch *roast__branches_named(struct roast_branches *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->sums[i].name = name_of(table, i);
    return table->sums;
}
