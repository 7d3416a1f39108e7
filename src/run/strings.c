/* SPDX-License-Identifier: BSD-3-Clause */
/* strings.c - every text once, known by a number from then on.
 *
 * The hash takes eight bytes at a time: file names are long and there are several texts
 * in a record. It never leaves the process, so it need not be the one of the format. */
#include "run/strings.h"

#include "base/mem.h"
#include "run/array.h"
#include "run/restore.h"

static uint64_t hash_text(struct roast_str text)
{
    uint64_t hash = text.size_bytes;
    uint64_t word = 0;
    size_t at = 0;

    for (; text.size_bytes - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, text.data + at, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    word = 0;
    if (text.size_bytes > at)
        memcpy(&word, text.data + at, text.size_bytes - at);
    return roast__slots_mix(hash ^ word);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    return hash_text(roast__strings_get(table, (int32_t)item));
}

struct roast_str roast__strings_get(const struct roast_strings *strings, int32_t id)
{
    if (id < 0)
        return (struct roast_str){NULL, 0};
    size_t start = id > 0 ? strings->ends[id - 1] : 0;
    size_t size = strings->ends[id] - start;
    return (struct roast_str){size > 0 ? strings->bytes + start : "", size};
}

static bool is_text(const struct roast_strings *strings, int32_t id,
                    struct roast_str text)
{
    struct roast_str known = roast__strings_get(strings, id);

    return known.data && known.size_bytes == text.size_bytes &&
           memcmp(known.data, text.data, text.size_bytes) == 0;
}

static int32_t find(const struct roast_strings *strings, struct roast_str text,
                    uint64_t hash)
{
    const struct roast_slots *slots = &strings->slots;

    for (size_t at = roast__slots_first(slots, hash); roast__slots_holds(slots, at);
         at = roast__slots_next(slots, at)) {
        int32_t id = (int32_t)roast__slots_item(slots, at);
        if (is_text(strings, id, text))
            return id;
    }
    return ROAST_NO_STRING;
}

int32_t roast__strings_find(const struct roast_strings *strings, struct roast_str text)
{
    return text.data ? find(strings, text, hash_text(text)) : ROAST_NO_STRING;
}

static bool room_for(struct roast_strings *strings, size_t size_bytes)
{
    size_t cap = strings->bytes_cap > 0 ? strings->bytes_cap : 1024;
    size_t *ends =
        roast__array_room(strings->ends, &strings->cap, strings->count, sizeof(*ends));

    if (!ends)
        return false;
    strings->ends = ends;
    if (strings->count >= INT32_MAX ||
        !roast__slots_room(&strings->slots, strings->count, hash_of, strings))
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

/* The next number, for a text that nobody will find yet; negative: out of memory. */
static int32_t add(struct roast_strings *strings, struct roast_str text)
{
    if (!room_for(strings, text.size_bytes))
        return ROAST_STRING_NO_MEMORY;
    if (text.size_bytes > 0)
        memcpy(strings->bytes + strings->bytes_used, text.data, text.size_bytes);
    strings->bytes_used += text.size_bytes;
    strings->ends[strings->count] = strings->bytes_used;
    return (int32_t)strings->count++;
}

int32_t roast__strings_put(struct roast_strings *strings, struct roast_str text)
{
    if (!text.data)
        return ROAST_NO_STRING;
    uint64_t hash = hash_text(text);
    int32_t id = find(strings, text, hash);
    if (id >= 0)
        return id;
    id = add(strings, text);
    if (id >= 0)
        roast__slots_put(&strings->slots, hash, (uint32_t)id);
    return id;
}

/* Of equal texts, which only a hostile file has, the first one is found: all of them
 * would lie in one stretch of slots that takes ever longer to walk. */
bool roast__strings_append(struct roast_strings *strings, struct roast_str text)
{
    uint64_t hash = hash_text(text);
    bool is_new = find(strings, text, hash) < 0;
    int32_t id = add(strings, text);

    if (id >= 0 && is_new)
        roast__slots_put(&strings->slots, hash, (uint32_t)id);
    return id >= 0;
}

int32_t roast__strings_put_again(struct roast_strings *strings, struct roast_str text,
                                 int32_t guess)
{
    bool is_number = guess >= 0 && (size_t)guess < strings->count;

    if (is_number && text.data && is_text(strings, guess, text))
        return guess;
    return roast__strings_put(strings, text);
}

void roast__strings_release(struct roast_strings *strings)
{
    roast__free(strings->bytes);
    roast__free(strings->ends);
    roast__slots_release(&strings->slots);
    memset(strings, 0, sizeof(*strings));
}
