/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h - the bytes of a live file around its entries; docs/format.md.
 *
 *     head    8 magic, 4 format, 4 size of the head, 48 writer, 8 monotonic clock,
 *             8 realtime clock, 4 CRC-32C of all before
 *     block   4 magic, 4 CRC-32C of all behind, 4 size of the payload, 8 number
 *             (from 1), payload: entries of journal.h
 *
 * The CRC of a block stands before what it covers, so that one call computes it. */
#ifndef ROAST_FILE_LIVE_FORMAT_H
#define ROAST_FILE_LIVE_FORMAT_H

#include "base/bytes.h"
#include "base/checksum.h"
#include "file/live/read.h"
#include "run/journal.h"

enum {
    ROAST_LIVE_FORMAT = 1,
    ROAST_LIVE_WRITER_BYTES = 48, /* padded with NULs */
    ROAST_LIVE_HEAD_BYTES = 84,
    ROAST_BLOCK_MAGIC_BYTES = 4,
    ROAST_BLOCK_COVERED_FROM = 8, /* where the bytes begin that the CRC covers */
    ROAST_BLOCK_HEAD_BYTES = ROAST_LEAF_HEAD_BYTES,
    ROAST_BLOCK_MAX_BYTES = 1024 * 1024, /* of a payload */
};

static const unsigned char roast__live_magic[ROAST_LIVE_MAGIC_BYTES] = {
    0x89, 'r', 'o', 'a', 's', 't', 'L', '\n'};
static const unsigned char roast__block_magic[ROAST_BLOCK_MAGIC_BYTES] = {0xb1, 'r',
                                                                          'l', '1'};

struct roast_live_head {
    uint32_t format;
    char writer[ROAST_LIVE_WRITER_BYTES]; /* NUL-terminated */
    int64_t start_mono_ns;
    int64_t start_epoch_ns;
};

static inline void roast__live_head_pack(unsigned char out[ROAST_LIVE_HEAD_BYTES],
                                         const struct roast_live_head *head)
{
    memcpy(out, roast__live_magic, ROAST_LIVE_MAGIC_BYTES);
    roast__store_fixed(out + 8, head->format, 4);
    roast__store_fixed(out + 12, ROAST_LIVE_HEAD_BYTES, 4);
    memcpy(out + 16, head->writer, ROAST_LIVE_WRITER_BYTES);
    roast__store_fixed(out + 64, (uint64_t)head->start_mono_ns, 8);
    roast__store_fixed(out + 72, (uint64_t)head->start_epoch_ns, 8);
    roast__store_fixed(out + 80, roast__crc32c(out, 80), 4);
}

/* Fills the head of a block in front of its payload. */
static inline void roast__block_seal(unsigned char *block, size_t payload_bytes,
                                     uint64_t number)
{
    size_t covered = ROAST_BLOCK_HEAD_BYTES - ROAST_BLOCK_COVERED_FROM + payload_bytes;

    memcpy(block, roast__block_magic, ROAST_BLOCK_MAGIC_BYTES);
    roast__store_fixed(block + 8, payload_bytes, 4);
    roast__store_fixed(block + 12, number, 8);
    roast__store_fixed(block + 4,
                       roast__crc32c(block + ROAST_BLOCK_COVERED_FROM, covered), 4);
}

#endif
