/* SPDX-License-Identifier: BSD-3-Clause */
/* name_table.c - names that records hold, numbered in order of appearance. */
#include "analyze/name_table.h"

#include "base/array.h"
#include "base/checksum.h"
#include "base/mem.h"

static uint64_t hash_key(const struct roast_name_key *key)
{
    return roast__hash_number(roast__hash64(key->name.data, key->name.size_bytes) +
                              key->group);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    return hash_key(&((const struct roast_name_table *)table)->keys[item]);
}

static bool is_same(const struct roast_name_key *a, const struct roast_name_key *b)
{
    return a->group == b->group && a->name.size_bytes == b->name.size_bytes &&
           memcmp(a->name.data, b->name.data, a->name.size_bytes) == 0;
}

static int64_t add_key(struct roast_name_table *table, const struct roast_name_key *key,
                       uint64_t hash)
{
    struct roast_name_key *keys =
        roast__array_room(table->keys, &table->cap, table->count, sizeof(keys[0]));

    if (!keys)
        return -1;
    table->keys = keys;
    keys[table->count] = *key;
    roast__hash_put(&table->slots, hash, (uint32_t)table->count);
    return (int64_t)table->count++;
}

int64_t roast__name_number(struct roast_name_table *table, struct roast_name_key key,
                           int64_t guess)
{
    struct roast_hash_table *slots = &table->slots;

    if (guess >= 0 && (size_t)guess < table->count &&
        is_same(&table->keys[guess], &key))
        return guess;
    if (!roast__hash_room(slots, table->count, hash_of, table))
        return -1;
    uint64_t hash = hash_key(&key);
    for (size_t at = roast__hash_first(slots, hash); roast__hash_holds(slots, at);
         at = roast__hash_next(slots, at)) {
        uint32_t item = roast__hash_item(slots, at);
        if (is_same(&table->keys[item], &key))
            return item;
    }
    return add_key(table, &key, hash);
}

int roast__compare_names(struct roast_str a, struct roast_str b)
{
    size_t shorter = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = memcmp(a.data, b.data, shorter);

    if (order != 0)
        return order;
    return (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

void roast__name_table_release(struct roast_name_table *table)
{
    roast__free(table->keys);
    roast__hash_release(&table->slots);
    *table = (struct roast_name_table){0};
}
