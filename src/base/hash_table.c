/* SPDX-License-Identifier: BSD-3-Clause */
/* hash_table.c - finds an item of an array by its hash: keyed hashes, growth.
 *
 * Bytes are hashed with SipHash-1-3 (Aumasson and Bernstein), numbers with a keyed
 * multiplication, which is enough where the key is not known. */
#include "base/hash_table.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"

enum { SMALLEST_COUNT = 32 };

/* ---- hashes ------------------------------------------------------------------ */

static uint64_t keys[2];
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

static void draw_keys(void)
{
    if (getentropy(keys, sizeof(keys)) == 0)
        return;
    keys[0] = (uint64_t)roast__clock_mono_ns(); /* no source of randomness */
    keys[1] = (uint64_t)(uintptr_t)&keys_once ^ keys[0] << 32;
}

static const uint64_t *get_keys(void)
{
    (void)pthread_once(&keys_once, draw_keys);
    return keys;
}

static inline uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

uint64_t roast__hash_bytes(struct roast_str bytes)
{
    const uint64_t *key = get_keys();
    uint64_t v[4] = {
        key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
        key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = (const unsigned char *)bytes.data;
    size_t whole = bytes.size_bytes / 8 * 8;

    for (size_t i = 0; i <= whole; i += 8) {
        uint64_t word = i < whole
                            ? roast__load_fixed(at + i, 8)
                            : roast__load_fixed(at + i, bytes.size_bytes - whole) |
                                  (uint64_t)bytes.size_bytes << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t roast__hash_number(uint64_t value)
{
    const uint64_t *key = get_keys();

    value = (value ^ key[0]) * (key[1] | 1);
    value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ (value >> 32);
}

/* ---- slots ------------------------------------------------------------------- */

void roast__hash_put(struct roast_hash_table *table, uint64_t hash, uint32_t item)
{
    size_t at = roast__hash_first(table, hash);

    while (table->items[at] != 0)
        at = roast__hash_next(table, at);
    table->items[at] = item + 1;
}

/* At most three quarters are used, so that searches are short. */
bool roast__hash_room(struct roast_hash_table *table, size_t used,
                      roast__item_hash *hash_of, const void *array)
{
    struct roast_hash_table more = {NULL, table->count > 0 ? table->count * 2
                                                           : SMALLEST_COUNT};

    if (used < table->count / 4 * 3)
        return true;
    if (more.count > SIZE_MAX / sizeof(*more.items))
        return false;
    more.items = roast__alloc(more.count * sizeof(*more.items));
    if (!more.items)
        return false;
    for (size_t at = 0; at < table->count; at++) {
        if (table->items[at] != 0) {
            uint32_t item = roast__hash_item(table, at);
            roast__hash_put(&more, hash_of(array, item), item);
        }
    }
    roast__hash_release(table);
    *table = more;
    return true;
}

void roast__hash_release(struct roast_hash_table *table)
{
    roast__free(table->items);
    *table = (struct roast_hash_table){NULL, 0};
}
