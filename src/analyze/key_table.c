/* SPDX-License-Identifier: BSD-3-Clause */
/* key_table.c - numbers distinct keys in order of appearance, with a value for each. */
#include "analyze/key_table.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

static uint64_t hash_key(const struct roast_key *key)
{
    uint64_t name = key->name.size_bytes > 0 ? roast__hash_bytes(key->name) : 0;

    return roast__hash_number(roast__hash_number(name + key->a) + key->b);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    return hash_key(&((const struct roast_key_table *)table)->keys[item]);
}

static bool is_same(const struct roast_key *a, const struct roast_key *b)
{
    return a->a == b->a && a->b == b->b && roast__str_equal(a->name, b->name);
}

int64_t roast__key_number(struct roast_key_table *table, struct roast_key key,
                          int64_t hint)
{
    struct roast_hash_table *slots = &table->slots;
    size_t count = table->count, value_bytes = table->value_bytes;

    if (hint >= 0 && (size_t)hint < count && is_same(&table->keys[hint], &key))
        return hint;
    if (!roast__hash_room(slots, count, hash_of, table))
        return -1;
    uint64_t hash = hash_key(&key);
    for (size_t at = roast__hash_first(slots, hash); roast__hash_holds(slots, at);
         at = roast__hash_next(slots, at)) {
        uint32_t item = roast__hash_item(slots, at);
        if (is_same(&table->keys[item], &key))
            return item;
    }
    struct roast_key *keys =
        roast__array_room(table->keys, &table->cap, count, sizeof(keys[0]));
    if (!keys)
        return -1;
    table->keys = keys;
    if (value_bytes > 0) {
        char *values =
            roast__array_room(table->values, &table->value_cap, count, value_bytes);
        if (!values)
            return -1;
        table->values = values;
        memset(values + count * value_bytes, 0, value_bytes);
    }
    keys[count] = key;
    roast__hash_put(slots, hash, (uint32_t)count);
    return (int64_t)table->count++;
}

void roast__key_table_release(struct roast_key_table *table)
{
    roast__free(table->keys);
    roast__free(table->values);
    roast__hash_release(&table->slots);
    *table = (struct roast_key_table){.value_bytes = table->value_bytes};
}
