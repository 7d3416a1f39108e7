/* SPDX-License-Identifier: BSD-3-Clause */
/* buf.h - growable bytes with sticky failure, and a cursor to read bytes back.
 *
 * Append as often as you like, then check once: after the first failed allocation every
 * append is a no-op and roast__buf_ok() is false. Zeroed = empty and valid. */
#ifndef ROAST_BASE_BUF_H
#define ROAST_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_buf {
    unsigned char *data; /* owned; NULL while empty */
    size_t size_bytes;
    size_t cap_bytes;
    bool failed;
};

void roast__buf_release(struct roast_buf *buf); /* never fails, zeroes buf */
void roast__buf_clear(struct roast_buf *buf);   /* empties, keeps the memory */
void roast__buf_reserve(struct roast_buf *buf, size_t more_bytes);
void roast__buf_put(struct roast_buf *buf, const void *bytes, size_t size_bytes);
void roast__buf_sink(void *buf, const void *bytes, size_t size_bytes); /* the same */
void roast__buf_put_varint(struct roast_buf *buf, uint64_t value);
void roast__buf_put_signed(struct roast_buf *buf, int64_t value);
void roast__buf_put_fixed64(struct roast_buf *buf, uint64_t value); /* little endian */

static inline bool roast__buf_ok(const struct roast_buf *buf)
{
    return !buf->failed;
}

/* Reads what the puts above wrote. A read past the end returns 0 and sets `failed`, which
 * remains set: a caller may read a whole structure and check once. */
struct roast_cursor {
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

static inline struct roast_cursor roast__cursor(const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    struct roast_cursor cur = {bytes, bytes ? bytes + size_bytes : bytes, false};
    return cur;
}

static inline size_t roast__cursor_remaining(const struct roast_cursor *cur)
{
    return (size_t)(cur->end - cur->at);
}

uint64_t roast__cursor_varint(struct roast_cursor *cur);
int64_t roast__cursor_signed(struct roast_cursor *cur);
uint32_t roast__cursor_fixed32(struct roast_cursor *cur);
uint64_t roast__cursor_fixed64(struct roast_cursor *cur);

/* Borrows the next size_bytes bytes from the input; NULL if there are fewer. */
const unsigned char *roast__cursor_bytes(struct roast_cursor *cur, uint64_t size_bytes);

#endif
