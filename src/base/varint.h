/* SPDX-License-Identifier: BSD-3-Clause */
/* varint.h - reads varints (bytes.h) in place, for loops that read millions of them.
 *
 * Other code uses a cursor (buf.h). The end of a number is found with arithmetic: a branch
 * per byte could not be predicted. */
#ifndef ROAST_BASE_VARINT_H
#define ROAST_BASE_VARINT_H

#include <stdbool.h>

#include "base/bytes.h"

/* The 7 bits of up to 8 bytes joined: pairs of them, then pairs of pairs. */
static inline uint64_t roast__join_sevens(uint64_t word)
{
    word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) |
           (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) |
           (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x000000000fffffff)) |
           (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Reads the varint at *at, which moves behind it; false when it is cut off at `end` or
 * has more than 64 bits. Most have one byte; longer ones are read at once where 8 bytes
 * are available. */
static inline bool roast__load_varint(const unsigned char **at,
                                      const unsigned char *end, uint64_t *value)
{
    if (*at < end && **at < 0x80) {
        *value = *(*at)++;
        return true;
    }
    if (end - *at >= 8) {
        uint64_t word = roast__load_fixed(*at, 8);
        uint64_t last = ~word & UINT64_C(0x8080808080808080);
        if (last != 0) {
            *value = roast__join_sevens(word & (last ^ (last - 1)));
            *at += (unsigned)__builtin_ctzll(last) / 8 + 1;
            return true;
        }
    }
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint64_t byte = *(*at)++;
        if (shift == 63 && byte > 1)
            break; /* more than 64 bits */
        *value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

#endif
