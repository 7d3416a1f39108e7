/* SPDX-License-Identifier: BSD-3-Clause */
/* checksum.c - CRC-32C four bytes at a time, and FNV-1a.
 *
 * Slicing by four costs one 4 KiB table and is fast enough for frames of a few hundred
 * bytes on every processor; the hardware instruction would need one path per CPU. The
 * table is a constant, so it is right from the first call on any thread. */
#include "base/checksum.h"

static const uint32_t table[4][256] = {
#include "base/crc32c_table.inc"
};

uint32_t roast__crc32c(const void *data, size_t size_bytes)
{
    const unsigned char *at = data;
    uint32_t crc = UINT32_MAX;

    for (; size_bytes >= 4; size_bytes -= 4, at += 4) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
               (uint32_t)at[3] << 24;
        crc = table[3][crc & 0xff] ^ table[2][(crc >> 8) & 0xff] ^
              table[1][(crc >> 16) & 0xff] ^ table[0][crc >> 24];
    }
    while (size_bytes-- > 0)
        crc = table[0][(crc ^ *at++) & 0xff] ^ (crc >> 8);
    return ~crc;
}

uint64_t roast__hash64(const void *data, size_t size_bytes)
{
    const unsigned char *at = data;
    uint64_t hash = UINT64_C(14695981039346656037);

    while (size_bytes-- > 0)
        hash = (hash ^ *at++) * UINT64_C(1099511628211);
    return hash;
}
