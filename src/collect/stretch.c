/* SPDX-License-Identifier: BSD-3-Clause */
/* stretch.c - cuts bytes of a growing file into whole frames and into what is none.
 *
 * A worker that is killed, or a full disk, leaves half a frame, and frames of the next
 * attempt may follow it. So where a frame does not end well, the next one is searched:
 * a place where magic, size and checksum agree. A hostile file could make every byte
 * look like the start of a large frame whose checksum must be computed to know better:
 * that is what the effort limits. */
#include "collect/stretch.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "roast/collect.h"
#include "roast/record.h"

enum {
    MAGIC = 0xcf, /* first byte of a frame; docs/format.md */
    HEAD_BYTES = 2,
    CRC_BYTES = 4,
};

enum verdict { WHOLE, INCOMPLETE, DAMAGED };

/* How large the frame at data says it is; false when its size cannot be read. */
static bool claimed_bytes(uint64_t *size_bytes, struct roast_str data)
{
    struct roast_cursor cur = roast__cursor(data.data, data.size_bytes);

    (void)roast__cursor_bytes(&cur, HEAD_BYTES);
    uint64_t fields_bytes = roast__cursor_varint(&cur);
    uint64_t others_bytes = data.size_bytes - roast__cursor_left(&cur) + CRC_BYTES;
    *size_bytes = fields_bytes > UINT64_MAX - others_bytes
                      ? UINT64_MAX
                      : fields_bytes + others_bytes;
    return !cur.failed;
}

/* What the decoder lacks bytes for is incomplete, if more bytes can help: a size that
 * is too large, or has more bytes than a size has, stays what it is. */
static enum verdict judge_truncated(struct roast_str data)
{
    uint64_t claimed;

    if (claimed_bytes(&claimed, data))
        return claimed > ROAST_SPOOL_FRAME_MAX_BYTES ? DAMAGED : INCOMPLETE;
    return data.size_bytes < HEAD_BYTES + ROAST_VARINT_MAX_BYTES ? INCOMPLETE : DAMAGED;
}

static void spend(uint64_t *effort_bytes, struct roast_str data)
{
    uint64_t claimed;

    if (claimed_bytes(&claimed, data))
        *effort_bytes -= claimed < *effort_bytes ? claimed : *effort_bytes;
}

static enum verdict judge(struct roast_str data, size_t *size_bytes,
                          uint64_t *effort_bytes)
{
    roast_record rec;

    if ((unsigned char)data.data[0] != MAGIC)
        return DAMAGED; /* the decoder would ask for more bytes first */
    int status = roast_record_decode(&rec, size_bytes, data, NULL);
    if (status == ROAST_TRUNCATED)
        return judge_truncated(data);
    if (status == ROAST_OK && *size_bytes <= ROAST_SPOOL_FRAME_MAX_BYTES)
        return WHOLE;
    if (status != ROAST_NEWER_FORMAT) /* which is seen before anything is summed up */
        spend(effort_bytes, data);
    return DAMAGED;
}

static struct roast_str from(struct roast_str data, size_t at)
{
    return (struct roast_str){data.data + at, data.size_bytes - at};
}

/* Everything before the next frame. If there is none, what may still become one is left
 * for later. */
static size_t up_to_next_frame(struct roast_str data, bool first_may_grow,
                               uint64_t *effort_bytes)
{
    size_t may_grow_at = first_may_grow ? 0 : data.size_bytes;
    const char *magic = data.data;

    while (*effort_bytes > 0) {
        size_t after = (size_t)(magic - data.data) + 1;
        size_t size;
        magic = memchr(data.data + after, MAGIC, data.size_bytes - after);
        if (!magic)
            return may_grow_at;
        size_t at = (size_t)(magic - data.data);
        enum verdict verdict = judge(from(data, at), &size, effort_bytes);
        if (verdict == WHOLE)
            return at;
        if (verdict == INCOMPLETE && at < may_grow_at)
            may_grow_at = at;
    }
    return data.size_bytes;
}

size_t roast__stretch_size(struct roast_str data, bool at_end, uint64_t *effort_bytes)
{
    size_t at = 0;
    size_t size = 0;
    enum verdict verdict = INCOMPLETE;

    if (*effort_bytes == 0)
        return data.size_bytes;
    while (at < data.size_bytes) {
        verdict = judge(from(data, at), &size, effort_bytes);
        if (verdict != WHOLE)
            break;
        at += size;
    }
    if (at > 0 || data.size_bytes == 0 || (verdict == INCOMPLETE && !at_end))
        return at;
    return up_to_next_frame(data, verdict == INCOMPLETE, effort_bytes);
}
