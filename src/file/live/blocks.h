/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - the whole blocks of a live file, one after the other.
 *
 * The file is read in pieces. Bytes that are no whole block are skipped up to the next
 * one, with a limit on checksums without success: the file is untrusted. */
#ifndef ROAST_FILE_LIVE_BLOCKS_H
#define ROAST_FILE_LIVE_BLOCKS_H

#include "base/buf.h"
#include "file/live/block_format.h"

struct roast_live_blocks {
    int fd;
    uint64_t file_bytes;     /* when it was opened; what comes later is not read */
    uint64_t at;             /* offset of what is read next */
    struct roast_buf window; /* owned: the file from window_at on */
    uint64_t window_at;
    uint64_t next_number;
    uint64_t effort_bytes; /* that may still be checksummed without success */
    bool head_known;       /* head was whole */
    struct roast_live_head head;
};

/* Takes an open file and reads its head; a head that is damaged after the magic is
 * unknown and counted in *seen. Fails as roast__live_read() does; fd is closed then
 * too. */
int roast__blocks_open(struct roast_live_blocks *blocks, int fd, const char *path,
                       struct roast_journal_reading *seen, roast_error *err);

/* The entries of the next block, borrowed until the next call: 1, or 0 at the end. *gap
 * is set if anything is missing before it. Skipped bytes are counted. */
int roast__blocks_next(struct roast_live_blocks *blocks, struct roast_str *entries,
                       bool *gap, struct roast_journal_reading *seen, roast_error *err);

void roast__blocks_close(struct roast_live_blocks *blocks);

#endif
