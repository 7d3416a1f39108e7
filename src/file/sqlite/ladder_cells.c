/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_cells.c - a ladder as cells of a row, and back.
 *
 * Every attempt has one: reading it here, without roast_ladder_read() and without packing
 * it again to compare, is a quarter of the time that saving an attempt takes. */
#include "file/sqlite/ladder_cells.h"

#include "base/bytes.h"

_Static_assert(ROAST_ITEM_COUNT < 0x80, "numbers of items take a byte");

/* Item + 1 by number, so that 0 means unknown. */
static const unsigned char by_number[] = {
#define I(number, name, kind, shown, text) [number] = ROAST_ITEM_##name + 1,
#include "roast/ladder_items.def"
#undef I
};

enum { LONGEST_BYTES = 9 }; /* 63 bits are all that a cell holds */

/* A varint in its shortest form; NULL: there is none. `at` has LONGEST_BYTES to read. */
static inline const unsigned char *read_varint(uint64_t *value, const unsigned char *at)
{
    uint64_t sum = at[0] & 0x7f;
    unsigned length = 0;

    while (at[length] & 0x80) {
        if (++length == LONGEST_BYTES)
            return NULL;
        sum |= (uint64_t)(at[length] & 0x7f) << (7 * length);
    }
    *value = sum;
    return length > 0 && at[length] == 0 ? NULL : at + length + 1;
}

/* The same near the end, where it is copied to where there is something behind it. */
static const unsigned char *read_last(uint64_t *value, const unsigned char *at,
                                      const unsigned char *end)
{
    unsigned char room[LONGEST_BYTES];
    size_t size = (size_t)(end - at);

    memset(room, 0x80, sizeof(room)); /* goes on, for what is cut */
    memcpy(room, at, size);
    const unsigned char *next = read_varint(value, room);
    return next && next <= room + size ? at + (next - room) : NULL;
}

static bool read_cells(struct roast_attempt_row *row, struct roast_str blob)
{
    const unsigned char *at = (const unsigned char *)blob.data;
    const unsigned char *end = at + blob.size_bytes;
    unsigned last = 0;

    while (at < end) {
        unsigned number = *at++; /* all that we know are below 0x80 */
        uint64_t value = 0;
        if (number >= sizeof(by_number) || by_number[number] <= last)
            return false;
        last = by_number[number];
        at = end - at >= LONGEST_BYTES ? read_varint(&value, at)
                                       : read_last(&value, at, end);
        if (!at)
            return false;
        roast__row_set(row, (enum roast_row_column)(ROAST_ROW_FIRST_ITEM + last - 1),
                       (int64_t)value);
    }
    return true;
}

/* As everybody else reads it. */
static void read_odd(struct roast_attempt_row *row, struct roast_str blob)
{
    struct roast_ladder ladder;

    (void)roast_ladder_read(&ladder, blob, NULL); /* nothing is known if it fails */
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        enum roast_row_column at = (enum roast_row_column)(ROAST_ROW_FIRST_ITEM + i);
        row->known &= ~(UINT64_C(1) << at);
        row->values[at] = 0;
        if (roast_ladder_has(&ladder, (enum roast_ladder_item)i) &&
            ladder.values[i] <= INT64_MAX)
            roast__row_set(row, at, (int64_t)ladder.values[i]);
    }
}

bool roast__ladder_to_cells(struct roast_attempt_row *row, struct roast_str blob)
{
    bool whole = read_cells(row, blob);

    if (!whole)
        read_odd(row, blob);
    return whole;
}

size_t roast__ladder_of_cells(unsigned char out[ROAST_LADDER_BOUND_BYTES],
                              const struct roast_attempt_row *row)
{
    unsigned char *at = out;

    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        if (!roast__row_has(row, (enum roast_row_column)(ROAST_ROW_FIRST_ITEM + i)))
            continue;
        at = roast__store_varint(at,
                                 roast_ladder_info((enum roast_ladder_item)i)->number);
        at = roast__store_varint(at, (uint64_t)row->values[ROAST_ROW_FIRST_ITEM + i]);
    }
    return (size_t)(at - out);
}
