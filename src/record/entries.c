/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.c - rows of numbers to bytes and back; entries.h has their layout. */
#include "record/entries.h"

uint64_t roast__numbers_mask(const uint64_t *numbers, size_t count)
{
    uint64_t mask = 0;

    for (size_t i = 0; i < count; i++)
        mask |= (uint64_t)(numbers[i] != 0) << i;
    return mask;
}

void roast__numbers_put(struct roast_byte_writer *out, const uint64_t *numbers,
                        uint64_t mask)
{
    roast__write_varint(out, mask);
    for (; mask; mask &= mask - 1)
        roast__write_varint(out, numbers[__builtin_ctzll(mask)]);
}

/* Every bit of a mask takes at least one byte, so the work is bounded by the size of
 * the blob. */
uint64_t roast__numbers_read(struct roast_cursor *cur, uint64_t *numbers, size_t count)
{
    uint64_t mask = roast__cursor_varint(cur);

    memset(numbers, 0, count * sizeof(*numbers));
    for (uint64_t left = mask; left && !cur->failed; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        uint64_t value = roast__cursor_varint(cur);
        if (i < count)
            numbers[i] = value;
    }
    return mask;
}

void roast__name_put(struct roast_byte_writer *out, struct roast_str name)
{
    roast__write_varint(out, name.size_bytes);
    roast__write_bytes(out, name.data, name.size_bytes);
}

struct roast_str roast__name_read(struct roast_cursor *cur)
{
    struct roast_str name = {NULL, (size_t)roast__cursor_varint(cur)};

    name.data = (const char *)roast__cursor_bytes(cur, name.size_bytes);
    return name;
}

int64_t roast__written_bytes(const struct roast_byte_writer *out, const void *start,
                             const char *what, roast_error *err)
{
    if (out->full)
        return roast_error_set(err, ROAST_LIMIT, "%s need more than %zu bytes", what,
                               (size_t)(out->end - (const unsigned char *)start));
    return out->at - (const unsigned char *)start;
}
