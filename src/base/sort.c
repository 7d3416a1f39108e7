/* SPDX-License-Identifier: BSD-3-Clause */
/* sort.c - sorts many items by an integer key each: radix sort.
 *
 * The first digits split an array that does not fit the caches into parts that do; items
 * that are nearly in order hardly move. Parts are sorted from the last digit to the
 * first, and only by digits in which keys differ. Few items are sorted by insertion. */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum {
    FEW = 48,
    MANY = 4096,
    DIGIT_BITS = 8,
    PART_BITS = 11,
    PARTS = 1 << PART_BITS,
};

struct roast_keyed *roast__keyed_new(size_t count)
{
    return roast__realloc(NULL, 2 * count * sizeof(struct roast_keyed));
}

static bool is_sorted(const struct roast_keyed *keyed, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (keyed[i].key < keyed[i - 1].key)
            return false;
    }
    return true;
}

static void sort_few(struct roast_keyed *keyed, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct roast_keyed held = keyed[i];
        size_t at = i;
        for (; at > 0 && keyed[at - 1].key > held.key; at--)
            keyed[at] = keyed[at - 1];
        keyed[at] = held;
    }
}

/* The range of keys. Distances are unsigned: they do not overflow. */
struct range {
    uint64_t least;
    unsigned bits; /* of the largest distance from it */
};

static struct range range_of(const struct roast_keyed *keyed, size_t count)
{
    int64_t least = keyed[0].key, most = keyed[0].key;

    for (size_t i = 1; i < count; i++) {
        least = keyed[i].key < least ? keyed[i].key : least;
        most = keyed[i].key > most ? keyed[i].key : most;
    }
    uint64_t span = (uint64_t)most - (uint64_t)least;
    return (struct range){(uint64_t)least,
                          span > 0 ? 64 - (unsigned)__builtin_clzll(span) : 0};
}

/* One digit of a key. */
struct digit {
    uint64_t least;
    unsigned shift;
    unsigned bits;
};

static inline size_t digit_of(const struct roast_keyed *keyed, struct digit digit)
{
    uint64_t distance = (uint64_t)keyed->key - digit.least;

    return (size_t)(distance >> digit.shift) & (((size_t)1 << digit.bits) - 1);
}

/* Copies items by one digit. ends[n] is where those with digit n end. */
static void distribute(struct roast_keyed *to, const struct roast_keyed *from,
                       size_t count, struct digit digit, size_t ends[PARTS])
{
    size_t before = 0, digits = (size_t)1 << digit.bits;

    memset(ends, 0, digits * sizeof(ends[0]));
    for (size_t i = 0; i < count; i++)
        ends[digit_of(&from[i], digit)]++;
    for (size_t i = 0; i < digits; i++) {
        size_t here = ends[i];
        ends[i] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[ends[digit_of(&from[i], digit)]++] = from[i];
}

/* Sorts an array that fits the caches, or could not be split; room is as large. */
static void sort_part(struct roast_keyed *keyed, struct roast_keyed *room, size_t count)
{
    struct range range = range_of(keyed, count);
    struct roast_keyed *from = keyed, *to = room;
    unsigned bits = count > MANY ? PART_BITS : DIGIT_BITS;
    size_t ends[PARTS];

    for (unsigned shift = 0; shift < range.bits; shift += bits) {
        distribute(to, from, count, (struct digit){range.least, shift, bits}, ends);
        struct roast_keyed *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keyed)
        memcpy(keyed, from, count * sizeof(keyed[0]));
}

static void sort_parts(struct roast_keyed *keyed, struct roast_keyed *room,
                       size_t count)
{
    struct range range = range_of(keyed, count);
    unsigned shift = range.bits > PART_BITS ? range.bits - PART_BITS : 0;
    size_t ends[PARTS];

    distribute(room, keyed, count, (struct digit){range.least, shift, PART_BITS}, ends);
    memcpy(keyed, room, count * sizeof(keyed[0]));
    for (size_t i = 0, from = 0; shift > 0 && i < PARTS; from = ends[i++]) {
        size_t size = ends[i] - from;
        if (size <= FEW)
            sort_few(keyed + from, size);
        else if (!is_sorted(keyed + from, size))
            sort_part(keyed + from, room + from, size);
    }
}

void roast__keyed_sort(struct roast_keyed *keyed, struct roast_keyed *room,
                       size_t count)
{
    if (is_sorted(keyed, count))
        return;
    if (count <= FEW)
        sort_few(keyed, count);
    else if (count <= MANY)
        sort_part(keyed, room, count);
    else
        sort_parts(keyed, room, count);
}
