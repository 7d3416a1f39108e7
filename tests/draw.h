/* SPDX-License-Identifier: BSD-3-Clause */
/* draw.h - numbers that look random and are the same in every run of a test.
 *
 * Steele, Lea and Flood's splitmix64. */
#ifndef ROAST_TESTS_DRAW_H
#define ROAST_TESTS_DRAW_H

#include <stdint.h>

/* 0 <= share < 1. */
static inline double draw_share(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits = *seed;
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    bits ^= bits >> 31;
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
