/* SPDX-License-Identifier: BSD-3-Clause */
/* string_table.c - stores every text once and gives it a number. */
#include "base/string_table.h"

#include "base/array.h"
#include "base/mem.h"

static uint64_t hash_of(const void *table, uint32_t item)
{
    return roast__hash_bytes(roast__strings_get(table, (int32_t)item));
}

struct roast_str roast__strings_get(const struct roast_string_table *strings,
                                    int32_t id)
{
    if (id < 0)
        return (struct roast_str){NULL, 0};
    size_t start = id > 0 ? strings->ends[id - 1] : 0;
    size_t size = strings->ends[id] - start;
    return (struct roast_str){size > 0 ? strings->bytes + start : "", size};
}

static bool is_text(const struct roast_string_table *strings, int32_t id,
                    struct roast_str text)
{
    struct roast_str known = roast__strings_get(strings, id);

    return known.data && known.size_bytes == text.size_bytes &&
           memcmp(known.data, text.data, text.size_bytes) == 0;
}

static int32_t find(const struct roast_string_table *strings, struct roast_str text,
                    uint64_t hash)
{
    const struct roast_hash_table *slots = &strings->slots;

    for (size_t at = roast__hash_first(slots, hash); roast__hash_holds(slots, at);
         at = roast__hash_next(slots, at)) {
        int32_t id = (int32_t)roast__hash_item(slots, at);
        if (is_text(strings, id, text))
            return id;
    }
    return ROAST_NO_STRING;
}

int32_t roast__strings_find(const struct roast_string_table *strings,
                            struct roast_str text)
{
    return text.data ? find(strings, text, roast__hash_bytes(text)) : ROAST_NO_STRING;
}

static bool room_for(struct roast_string_table *strings, size_t size_bytes)
{
    size_t cap = strings->bytes_cap > 0 ? strings->bytes_cap : 1024;
    size_t *ends =
        roast__array_room(strings->ends, &strings->cap, strings->count, sizeof(*ends));

    if (!ends)
        return false;
    strings->ends = ends;
    if (strings->count >= INT32_MAX ||
        !roast__hash_room(&strings->slots, strings->count, hash_of, strings))
        return false;
    while (cap - strings->bytes_used < size_bytes && cap <= SIZE_MAX / 2)
        cap *= 2;
    if (cap == strings->bytes_cap)
        return true;
    char *bytes = cap - strings->bytes_used < size_bytes
                      ? NULL
                      : roast__realloc(strings->bytes, cap);
    if (!bytes)
        return false;
    strings->bytes = bytes;
    strings->bytes_cap = cap;
    return true;
}

int32_t roast__strings_put(struct roast_string_table *strings, struct roast_str text)
{
    if (!text.data)
        return ROAST_NO_STRING;
    uint64_t hash = roast__hash_bytes(text);
    int32_t id = find(strings, text, hash);
    if (id >= 0)
        return id;
    if (!room_for(strings, text.size_bytes))
        return ROAST_STRING_NO_MEMORY;
    if (text.size_bytes > 0)
        memcpy(strings->bytes + strings->bytes_used, text.data, text.size_bytes);
    strings->bytes_used += text.size_bytes;
    strings->ends[strings->count] = strings->bytes_used;
    id = (int32_t)strings->count++;
    roast__hash_put(&strings->slots, hash, (uint32_t)id);
    return id;
}

int32_t roast__strings_put_again(struct roast_string_table *strings,
                                 struct roast_str text, int32_t likely)
{
    bool is_number = likely >= 0 && (size_t)likely < strings->count;

    if (is_number && text.data && is_text(strings, likely, text))
        return likely;
    return roast__strings_put(strings, text);
}

void roast__strings_release(struct roast_string_table *strings)
{
    roast__free(strings->bytes);
    roast__free(strings->ends);
    roast__hash_release(&strings->slots);
    memset(strings, 0, sizeof(*strings));
}
