/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_scan.c - finds whole frames in bytes, some of which may be damaged.
 *
 * A worker that is killed, or a full disk, leaves half a frame, and frames of the next
 * attempt may follow it. So after an invalid frame the next one is searched: a position
 * where magic, size and checksum agree. */
#include "record/frame_scan.h"

#include "base/buf.h"
#include "base/bytes.h"

enum { HEAD_BYTES = 2, CRC_BYTES = 4 };

enum frame_state { WHOLE, INCOMPLETE, DAMAGED };

/* The size in the header of the frame at data; false when it has none. */
static bool claimed_bytes(uint64_t *size_bytes, struct roast_str data)
{
    struct roast_cursor cur = roast__cursor(data.data, data.size_bytes);

    (void)roast__cursor_bytes(&cur, HEAD_BYTES);
    uint64_t fields_bytes = roast__cursor_varint(&cur);
    uint64_t others_bytes = data.size_bytes - roast__cursor_remaining(&cur) + CRC_BYTES;
    *size_bytes = fields_bytes > UINT64_MAX - others_bytes
                      ? UINT64_MAX
                      : fields_bytes + others_bytes;
    return !cur.failed;
}

/* A frame with too few bytes is incomplete only if more bytes can complete it: not if
 * its size is too large, or is a varint that is too long. */
static enum frame_state classify(struct roast_str data, size_t *size_bytes,
                                 uint64_t *effort_bytes)
{
    uint64_t claimed;

    if ((unsigned char)data.data[0] != ROAST_FRAME_MAGIC)
        return DAMAGED; /* the check would report too few bytes */
    int status = roast__frame_check(size_bytes, data, NULL);
    if (status == ROAST_OK && *size_bytes <= ROAST_FRAME_MAX_BYTES)
        return WHOLE;
    if (status == ROAST_NEWER_FORMAT) /* found before the checksum is computed */
        return DAMAGED;
    bool is_claimed = claimed_bytes(&claimed, data);
    if (status == ROAST_TRUNCATED && is_claimed)
        return claimed > ROAST_FRAME_MAX_BYTES ? DAMAGED : INCOMPLETE;
    if (status == ROAST_TRUNCATED)
        return data.size_bytes < HEAD_BYTES + ROAST_VARINT_MAX_BYTES ? INCOMPLETE
                                                                     : DAMAGED;
    *effort_bytes -= claimed < *effort_bytes ? claimed : *effort_bytes;
    return DAMAGED;
}

static struct roast_str from(struct roast_str data, size_t at)
{
    return (struct roast_str){data.data + at, data.size_bytes - at};
}

/* The number of bytes before the next frame. If there is none: before what may still
 * become one, at *may_grow_at or earlier; NULL: no bytes will follow. */
static size_t up_to_next_frame(struct roast_str data, const size_t *may_grow_at,
                               uint64_t *effort_bytes)
{
    size_t stop = may_grow_at ? *may_grow_at : data.size_bytes;
    const char *magic = data.data;

    while (*effort_bytes > 0) {
        size_t after = (size_t)(magic - data.data) + 1;
        size_t size;
        magic = memchr(data.data + after, ROAST_FRAME_MAGIC, data.size_bytes - after);
        if (!magic)
            return stop;
        size_t at = (size_t)(magic - data.data);
        enum frame_state frame_state = classify(from(data, at), &size, effort_bytes);
        if (frame_state == WHOLE)
            return at;
        if (frame_state == INCOMPLETE && may_grow_at && at < stop)
            stop = at;
    }
    return data.size_bytes;
}

size_t roast__frame_skip(struct roast_str data, uint64_t *effort_bytes)
{
    return up_to_next_frame(data, NULL, effort_bytes);
}

size_t roast__frame_scan(struct roast_str data, bool at_end, uint64_t *effort_bytes)
{
    size_t at = 0;
    size_t size = 0;
    enum frame_state frame_state = INCOMPLETE;

    if (*effort_bytes == 0)
        return data.size_bytes;
    while (at < data.size_bytes) {
        frame_state = classify(from(data, at), &size, effort_bytes);
        if (frame_state != WHOLE)
            break;
        at += size;
    }
    if (at > 0 || data.size_bytes == 0 || (frame_state == INCOMPLETE && !at_end))
        return at;
    size_t may_grow_at = frame_state == INCOMPLETE ? 0 : data.size_bytes;
    return up_to_next_frame(data, &may_grow_at, effort_bytes);
}
