/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h - numbers as bytes, in the three forms that frames and files use.
 *
 * A varint holds 7 bits per byte, low bits first, the top bit set on all but the last:
 *     300 = 0b10_0101100  ->  AC 02        1 -> 01
 * A signed value is zigzagged first (0, -1, 1, -2 -> 0, 1, 2, 3). Fixed numbers are
 * little endian. */
#ifndef ROAST_BASE_BYTES_H
#define ROAST_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

enum { ROAST_VARINT_MAX_BYTES = 10 };

/* Writes at most ROAST_VARINT_MAX_BYTES at `at`; returns where they end. */
static inline unsigned char *roast__store_varint(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static inline uint64_t roast__zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t roast__unzigzag(uint64_t value)
{
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static inline void roast__store_fixed(unsigned char *at, uint64_t value,
                                      size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t roast__load_fixed(const unsigned char *at, size_t size_bytes)
{
    uint64_t value = 0;

    if (size_bytes == 8) /* one instruction, which compilers do not make of the loop */
        return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
               (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 |
               (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
    for (size_t i = 0; i < size_bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
