/* SPDX-License-Identifier: BSD-3-Clause */
/* checksum.c - CRC-32C by instruction or by table, and FNV-1a.
 *
 * Processors with SSE 4.2 have an instruction for exactly this CRC; everywhere else
 * four bytes at a time go through a constant table. Both give the same numbers. */
#include "base/checksum.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define ROAST_CRC_INSTRUCTION 1
#else
#define ROAST_CRC_INSTRUCTION 0
#endif

static const uint32_t table[4][256] = {
#include "base/crc32c_table.inc"
};

static uint32_t crc_by_table(uint32_t crc, const unsigned char *at, size_t size_bytes)
{
    for (; size_bytes >= 4; size_bytes -= 4, at += 4) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
               (uint32_t)at[3] << 24;
        crc = table[3][crc & 0xff] ^ table[2][(crc >> 8) & 0xff] ^
              table[1][(crc >> 16) & 0xff] ^ table[0][crc >> 24];
    }
    while (size_bytes-- > 0)
        crc = table[0][(crc ^ *at++) & 0xff] ^ (crc >> 8);
    return crc;
}

#if ROAST_CRC_INSTRUCTION
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(
    uint32_t crc, const unsigned char *at, size_t size_bytes)
{
    uint64_t wide = crc;

    for (; size_bytes >= 8; size_bytes -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    while (size_bytes-- > 0)
        crc = __builtin_ia32_crc32qi(crc, *at++);
    return crc;
}
#endif

uint32_t roast__crc32c_more(uint32_t sum, const void *data, size_t size_bytes)
{
#if ROAST_CRC_INSTRUCTION
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_by_instruction(~sum, data, size_bytes);
#endif
    return ~crc_by_table(~sum, data, size_bytes);
}

uint32_t roast__crc32c(const void *data, size_t size_bytes)
{
    return roast__crc32c_more(0, data, size_bytes);
}

uint32_t roast__crc32c_portable(const void *data, size_t size_bytes)
{
    return ~crc_by_table(UINT32_MAX, data, size_bytes);
}

uint64_t roast__hash64(const void *data, size_t size_bytes)
{
    const unsigned char *at = data;
    uint64_t hash = UINT64_C(14695981039346656037);

    while (size_bytes-- > 0)
        hash = (hash ^ *at++) * UINT64_C(1099511628211);
    return hash;
}
