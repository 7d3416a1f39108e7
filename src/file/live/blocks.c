/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - the whole blocks of a live file, one after the other.
 *
 * After an invalid block the next one is searched byte by byte: a position where magic,
 * size, number and checksum agree. If there is none, and the remaining bytes could be
 * the start of a block, the file was cut there. */
#include "file/live/blocks.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "file/text_bytes.h"

enum { PIECE_BYTES = 64 * 1024, EFFORT_PER_BYTE = 16, LARGEST_HEAD_BYTES = 4096 };

enum block_state { WHOLE, CUT, DAMAGED, FAILED };

/* ---- the window ------------------------------------------------------------------ */

static uint64_t left_bytes(const struct roast_live_blocks *blocks)
{
    return blocks->file_bytes - blocks->at;
}

static size_t held_bytes(const struct roast_live_blocks *blocks)
{
    return blocks->window.size_bytes - (size_t)(blocks->at - blocks->window_at);
}

static const unsigned char *here(const struct roast_live_blocks *blocks)
{
    return blocks->window.data + (blocks->at - blocks->window_at);
}

/* Drops the bytes that were read. */
static void drop_consumed(struct roast_live_blocks *blocks)
{
    size_t kept = held_bytes(blocks);

    if (blocks->at == blocks->window_at)
        return;
    if (kept > 0)
        memmove(blocks->window.data, here(blocks), kept);
    blocks->window.size_bytes = kept;
    blocks->window_at = blocks->at;
}

/* Reads until the window has this many bytes from the current position on. */
static int fill_window(struct roast_live_blocks *blocks, size_t size_bytes,
                       roast_error *err)
{
    struct roast_buf *window = &blocks->window;

    if (held_bytes(blocks) >= size_bytes)
        return ROAST_OK;
    drop_consumed(blocks);
    size_t wanted = size_bytes > PIECE_BYTES ? size_bytes : PIECE_BYTES;
    wanted = wanted < left_bytes(blocks) ? wanted : (size_t)left_bytes(blocks);
    roast__buf_reserve(window, wanted - window->size_bytes);
    if (!roast__buf_ok(window))
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu bytes of a live file",
                               wanted);
    while (window->size_bytes < size_bytes) {
        ssize_t got = pread(blocks->fd, window->data + window->size_bytes,
                            wanted - window->size_bytes,
                            (off_t)(blocks->window_at + window->size_bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return roast_error_set(err, ROAST_IO, "live file at byte %" PRIu64 ": %s",
                                   blocks->window_at + window->size_bytes,
                                   got < 0 ? strerror(errno) : "it became shorter");
        window->size_bytes += (size_t)got;
    }
    return ROAST_OK;
}

/* ---- one block ------------------------------------------------------------------- */

static bool has_magic(const struct roast_live_blocks *blocks, size_t bytes)
{
    size_t compared =
        bytes < ROAST_BLOCK_MAGIC_BYTES ? bytes : (size_t)ROAST_BLOCK_MAGIC_BYTES;

    return memcmp(here(blocks), roast__block_magic, compared) == 0;
}

static size_t payload_bytes(const struct roast_live_blocks *blocks)
{
    return (size_t)roast__load_fixed(here(blocks) + 8, 4);
}

static uint64_t block_number(const struct roast_live_blocks *blocks)
{
    return roast__load_fixed(here(blocks) + 12, 8);
}

static enum block_state check_sum(struct roast_live_blocks *blocks)
{
    size_t covered =
        ROAST_BLOCK_HEAD_BYTES - ROAST_BLOCK_COVERED_FROM + payload_bytes(blocks);

    if (roast__load_fixed(here(blocks) + 4, 4) ==
        roast__crc32c(here(blocks) + ROAST_BLOCK_COVERED_FROM, covered))
        return WHOLE;
    blocks->effort_bytes -=
        covered < blocks->effort_bytes ? covered : blocks->effort_bytes;
    return DAMAGED;
}

/* The state of the block at the current position. */
static enum block_state classify(struct roast_live_blocks *blocks, roast_error *err)
{
    uint64_t left = left_bytes(blocks);
    size_t head_bytes =
        left < ROAST_BLOCK_HEAD_BYTES ? (size_t)left : (size_t)ROAST_BLOCK_HEAD_BYTES;

    if (fill_window(blocks, head_bytes, err) < 0)
        return FAILED;
    if (!has_magic(blocks, head_bytes))
        return DAMAGED;
    if (head_bytes < ROAST_BLOCK_HEAD_BYTES)
        return CUT;
    size_t payload = payload_bytes(blocks);
    if (payload == 0 || payload > ROAST_BLOCK_MAX_BYTES ||
        block_number(blocks) < blocks->next_number ||
        block_number(blocks) == UINT64_MAX)
        return DAMAGED;
    if (payload > left - ROAST_BLOCK_HEAD_BYTES)
        return CUT;
    if (fill_window(blocks, ROAST_BLOCK_HEAD_BYTES + payload, err) < 0)
        return FAILED;
    return check_sum(blocks);
}

/* Advances to the next byte that a block may begin with. */
static void skip_to_magic(struct roast_live_blocks *blocks)
{
    blocks->at++;
    if (held_bytes(blocks) == 0)
        return;
    const unsigned char *from = here(blocks);
    const unsigned char *found =
        memchr(from, roast__block_magic[0], held_bytes(blocks));
    blocks->at += found ? (size_t)(found - from) : held_bytes(blocks);
}

/* Advances to the next whole block; DAMAGED: there is none, and the end is reached. */
static enum block_state find_next_block(struct roast_live_blocks *blocks,
                                        roast_error *err)
{
    while (left_bytes(blocks) > 1 && blocks->effort_bytes > 0) {
        skip_to_magic(blocks);
        enum block_state block_state =
            left_bytes(blocks) > 0 ? classify(blocks, err) : DAMAGED;
        if (block_state == WHOLE || block_state == FAILED)
            return block_state;
    }
    blocks->at = blocks->file_bytes;
    return DAMAGED;
}

int roast__blocks_next(struct roast_live_blocks *blocks, struct roast_str *entries,
                       bool *gap, struct roast_journal_reading *seen, roast_error *err)
{
    roast_error failure = {0};
    uint64_t from = blocks->at;

    if (left_bytes(blocks) == 0)
        return 0;
    enum block_state first = classify(blocks, &failure);
    enum block_state last =
        first == CUT || first == DAMAGED ? find_next_block(blocks, &failure) : first;
    if (last == FAILED)
        return roast_error_set(err, failure.code, "%s", failure.message);
    if (last == DAMAGED && first == CUT) {
        seen->cut_bytes = blocks->file_bytes - from;
        return 0;
    }
    seen->damaged += first != WHOLE;
    uint64_t lost = last == WHOLE ? block_number(blocks) - blocks->next_number : 0;
    *gap = first != WHOLE || lost > 0;
    seen->gaps += *gap;
    if (last == DAMAGED)
        return 0;
    seen->lost_blocks += lost;
    seen->blocks++;
    *entries = (struct roast_str){(const char *)here(blocks) + ROAST_BLOCK_HEAD_BYTES,
                                  payload_bytes(blocks)};
    blocks->next_number = block_number(blocks) + 1;
    blocks->at += ROAST_BLOCK_HEAD_BYTES + entries->size_bytes;
    return 1;
}

/* ---- the head -------------------------------------------------------------------- */

bool roast__is_live(const unsigned char first[ROAST_LIVE_MAGIC_BYTES])
{
    return memcmp(first, roast__live_magic, ROAST_LIVE_MAGIC_BYTES) == 0;
}

bool roast__live_head_read(struct roast_live_head *head, const unsigned char *at,
                           size_t size_bytes)
{
    if (size_bytes < ROAST_LIVE_HEAD_BYTES || !roast__is_live(at) ||
        roast__load_fixed(at + size_bytes - 4, 4) != roast__crc32c(at, size_bytes - 4))
        return false;
    head->format = (uint32_t)roast__load_fixed(at + 8, 4);
    memcpy(head->writer, at + 16, ROAST_LIVE_WRITER_BYTES - 1);
    roast__make_printable(head->writer);
    head->start_mono_ns = (int64_t)roast__load_fixed(at + 64, 8);
    head->start_epoch_ns = (int64_t)roast__load_fixed(at + 72, 8);
    return true;
}

static int refuse(const struct roast_live_blocks *blocks, const char *path, int code,
                  roast_error *err)
{
    switch (code) {
    case ROAST_TRUNCATED:
        return roast_error_set(err, code,
                               "%.150s: a live file cut at %" PRIu64
                               " bytes, before anything of the run",
                               path, blocks->file_bytes);
    case ROAST_NEWER_FORMAT:
        return roast_error_set(
            err, code,
            "%.100s: written by %s, format %" PRIu32 "; this roastcoffea reads %d",
            path, blocks->head.writer, blocks->head.format, ROAST_LIVE_FORMAT);
    default:
        return roast_error_set(err, ROAST_BAD_DATA, "%.150s: no live file of a run",
                               path);
    }
}

/* Reads the head; `at` is after it on success. */
static int open_head(struct roast_live_blocks *blocks, const char *path,
                     roast_error *err)
{
    uint64_t left = left_bytes(blocks);
    size_t some = left < ROAST_LIVE_HEAD_BYTES ? (size_t)left : ROAST_LIVE_HEAD_BYTES;
    size_t magic = some < ROAST_LIVE_MAGIC_BYTES ? some : ROAST_LIVE_MAGIC_BYTES;
    int status = fill_window(blocks, some, err);

    if (status < 0)
        return status;
    if (some > 0 && memcmp(here(blocks), roast__live_magic, magic) != 0)
        return refuse(blocks, path, ROAST_BAD_DATA, err);
    if (some < ROAST_LIVE_HEAD_BYTES)
        return refuse(blocks, path, ROAST_TRUNCATED, err);
    size_t head_bytes = (size_t)roast__load_fixed(here(blocks) + 12, 4);
    if (head_bytes < ROAST_LIVE_HEAD_BYTES || head_bytes > LARGEST_HEAD_BYTES ||
        head_bytes > left)
        head_bytes = ROAST_LIVE_HEAD_BYTES;
    status = fill_window(blocks, head_bytes, err);
    if (status < 0)
        return status;
    blocks->head_known = roast__live_head_read(&blocks->head, here(blocks), head_bytes);
    if (blocks->head_known && blocks->head.format != ROAST_LIVE_FORMAT)
        return refuse(blocks, path,
                      blocks->head.format > ROAST_LIVE_FORMAT ? ROAST_NEWER_FORMAT
                                                              : ROAST_BAD_DATA,
                      err);
    blocks->at += blocks->head_known ? head_bytes : ROAST_LIVE_HEAD_BYTES;
    return ROAST_OK;
}

static int check_head(struct roast_live_blocks *blocks, const char *path,
                      roast_error *err)
{
    struct stat about;

    if (fstat(blocks->fd, &about) != 0)
        return roast_error_set(err, ROAST_IO, "%.150s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode) || about.st_size < 0)
        return refuse(blocks, path, ROAST_BAD_DATA, err);
    blocks->file_bytes = (uint64_t)about.st_size;
    return ROAST_OK;
}

int roast__blocks_open(struct roast_live_blocks *blocks, int fd, const char *path,
                       struct roast_journal_reading *seen, roast_error *err)
{
    *blocks = (struct roast_live_blocks){.fd = fd, .next_number = 1};
    int status = check_head(blocks, path, err);
    if (status == ROAST_OK)
        status = open_head(blocks, path, err);
    if (status < 0) {
        roast__blocks_close(blocks);
        return status;
    }
    blocks->effort_bytes = EFFORT_PER_BYTE * blocks->file_bytes;
    seen->format = ROAST_LIVE_FORMAT;
    seen->damaged += !blocks->head_known;
    seen->gaps += !blocks->head_known;
    memcpy(seen->writer, blocks->head.writer, sizeof(seen->writer));
    return ROAST_OK;
}

void roast__blocks_close(struct roast_live_blocks *blocks)
{
    if (blocks->fd >= 0)
        (void)close(blocks->fd);
    roast__buf_release(&blocks->window);
    blocks->fd = -1;
}
