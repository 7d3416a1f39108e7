/* SPDX-License-Identifier: BSD-3-Clause */
/* block_format.h - the bytes of a live file around its entries; docs/format.md. A saved
 * file has the same head and blocks as rows of a table.
 *
 *     head    8 magic, 4 format, 4 size of the head, 48 writer, 8 monotonic clock,
 *             8 realtime clock, 4 CRC-32C of all before
 *     block   4 magic, 4 CRC-32C of all after it, 4 size of the payload, 8 number
 *             (from 1), payload: entries of journal.h
 *
 * The CRC of a block precedes what it covers, so that one call computes it. */
#ifndef ROAST_FILE_LIVE_BLOCK_FORMAT_H
#define ROAST_FILE_LIVE_BLOCK_FORMAT_H

#include "base/array.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "file/live/read.h"
#include "roast/version.h"
#include "run/journal/journal.h"

enum {
    ROAST_LIVE_FORMAT = 1,
    ROAST_LIVE_WRITER_BYTES = 48, /* padded with NULs */
    ROAST_LIVE_HEAD_BYTES = 84,
    ROAST_BLOCK_MAGIC_BYTES = 4,
    ROAST_BLOCK_COVERED_FROM = 8,        /* where the bytes begin that the CRC covers */
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

/* The head of a run, whose clocks never change. */
static inline void roast__live_head_make(unsigned char out[ROAST_LIVE_HEAD_BYTES],
                                         const struct roast_run *run)
{
    static const char writer[] = "roastcoffea " ROAST_VERSION;
    int64_t mono_ns = roast__sat_sub(run->start_ns, run->epoch_minus_mono_ns);

    memset(out, 0, ROAST_LIVE_HEAD_BYTES);
    memcpy(out, roast__live_magic, ROAST_LIVE_MAGIC_BYTES);
    roast__store_fixed(out + 8, ROAST_LIVE_FORMAT, 4);
    roast__store_fixed(out + 12, ROAST_LIVE_HEAD_BYTES, 4);
    memcpy(out + 16, writer, sizeof(writer));
    roast__store_fixed(out + 64, (uint64_t)mono_ns, 8);
    roast__store_fixed(out + 72, (uint64_t)run->start_ns, 8);
    roast__store_fixed(out + 80, roast__crc32c(out, 80), 4);
}

/* Reads a head of any format, whose last 4 bytes are its CRC; false: it is damaged.
 * Magic, format, size and writer are where they are here in all formats. */
bool roast__live_head_read(struct roast_live_head *head, const unsigned char *bytes,
                           size_t size_bytes);

/* Fills the head of a block in front of its payload. */
static inline void roast__block_write_head(unsigned char *block, size_t payload_bytes,
                                           uint64_t number)
{
    size_t covered = ROAST_BLOCK_HEAD_BYTES - ROAST_BLOCK_COVERED_FROM + payload_bytes;

    memcpy(block, roast__block_magic, ROAST_BLOCK_MAGIC_BYTES);
    roast__store_fixed(block + 8, payload_bytes, 4);
    roast__store_fixed(block + 12, number, 8);
    roast__store_fixed(block + 4,
                       roast__crc32c(block + ROAST_BLOCK_COVERED_FROM, covered), 4);
}

/* The payload of a block that is all of some bytes; absent where it is damaged. */
static inline struct roast_str roast__block_open(struct roast_str bytes,
                                                 uint64_t number)
{
    const unsigned char *at = (const unsigned char *)bytes.data;
    size_t covered = bytes.size_bytes - ROAST_BLOCK_COVERED_FROM;

    if (bytes.size_bytes <= ROAST_BLOCK_HEAD_BYTES ||
        memcmp(at, roast__block_magic, ROAST_BLOCK_MAGIC_BYTES) != 0 ||
        roast__load_fixed(at + 8, 4) != bytes.size_bytes - ROAST_BLOCK_HEAD_BYTES ||
        roast__load_fixed(at + 12, 8) != number ||
        roast__load_fixed(at + 4, 4) !=
            roast__crc32c(at + ROAST_BLOCK_COVERED_FROM, covered))
        return (struct roast_str){NULL, 0};
    return (struct roast_str){bytes.data + ROAST_BLOCK_HEAD_BYTES,
                              bytes.size_bytes - ROAST_BLOCK_HEAD_BYTES};
}

#endif
