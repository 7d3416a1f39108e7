/* SPDX-License-Identifier: BSD-3-Clause */
/* keyed_hash.c - SipHash-2-4 (Aumasson and Bernstein, 2012) of a text. */
#include "base/bytes.h"
#include "base/redact.h"

static uint64_t rotated(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static void mix(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

uint64_t roast__keyed_hash(const unsigned char key[ROAST_NAME_KEY_BYTES],
                           struct roast_str text)
{
    uint64_t k0 = roast__load_fixed(key, 8);
    uint64_t k1 = roast__load_fixed(key + 8, 8);
    uint64_t v[4] = {
        k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
        k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = (const unsigned char *)text.data;
    size_t whole = text.size_bytes / 8;
    size_t rest = text.size_bytes % 8;

    for (size_t i = 0; i < whole; i++, at += 8)
        mix(v, roast__load_fixed(at, 8));
    uint64_t last = (uint64_t)text.size_bytes << 56;
    for (size_t i = 0; i < rest; i++)
        last |= (uint64_t)at[i] << (8 * i);
    mix(v, last);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
