/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_blocks.h - makes the checksums of a changed live file valid again wherever a head
 * or a block could be, to test how its contents are read. Without cmocka, because a
 * fuzz target uses it too. */
#ifndef ROAST_TESTS_FILE_LIVE_FIX_BLOCKS_H
#define ROAST_TESTS_FILE_LIVE_FIX_BLOCKS_H

#include <string.h>

#include "file/live/block_format.h"

static inline void fix_blocks(unsigned char *file, size_t size_bytes)
{
    size_t at = ROAST_LIVE_HEAD_BYTES;

    if (size_bytes < at)
        return;
    roast__store_fixed(file + at - 4, roast__crc32c(file, at - 4), 4);
    while (size_bytes - at > ROAST_BLOCK_HEAD_BYTES) {
        uint64_t payload = roast__load_fixed(file + at + 8, 4);
        bool fits = payload <= size_bytes - at - ROAST_BLOCK_HEAD_BYTES;
        if (!fits || memcmp(file + at, roast__block_magic, 4) != 0) {
            at++;
            continue;
        }
        roast__block_write_head(file + at, (size_t)payload,
                                roast__load_fixed(file + at + 12, 8));
        at += ROAST_BLOCK_HEAD_BYTES + (size_t)payload;
    }
}

#endif
