/* SPDX-License-Identifier: BSD-3-Clause */
/* buf.c - growable bytes with sticky failure, and the cursor over them. */
#include "base/buf.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/varint.h"

enum { SMALLEST_CAP_BYTES = 256 };

void roast__buf_release(struct roast_buf *buf)
{
    roast__free(buf->data);
    memset(buf, 0, sizeof(*buf));
}

void roast__buf_clear(struct roast_buf *buf)
{
    buf->size_bytes = 0;
    buf->failed = false;
}

void roast__buf_reserve(struct roast_buf *buf, size_t more_bytes)
{
    size_t cap = buf->cap_bytes > 0 ? buf->cap_bytes : SMALLEST_CAP_BYTES;

    if (buf->failed || more_bytes <= buf->cap_bytes - buf->size_bytes)
        return;
    while (cap - buf->size_bytes < more_bytes && cap <= SIZE_MAX / 2)
        cap *= 2;
    unsigned char *data =
        cap - buf->size_bytes < more_bytes ? NULL : roast__realloc(buf->data, cap);
    if (!data) {
        buf->failed = true;
        return;
    }
    buf->data = data;
    buf->cap_bytes = cap;
}

void roast__buf_put(struct roast_buf *buf, const void *bytes, size_t size_bytes)
{
    roast__buf_reserve(buf, size_bytes);
    if (buf->failed || size_bytes == 0)
        return;
    memcpy(buf->data + buf->size_bytes, bytes, size_bytes);
    buf->size_bytes += size_bytes;
}

void roast__buf_sink(void *buf, const void *bytes, size_t size_bytes)
{
    roast__buf_put(buf, bytes, size_bytes);
}

void roast__buf_put_varint(struct roast_buf *buf, uint64_t value)
{
    roast__buf_reserve(buf, ROAST_VARINT_MAX_BYTES);
    if (buf->failed)
        return;
    unsigned char *end = roast__store_varint(buf->data + buf->size_bytes, value);
    buf->size_bytes = (size_t)(end - buf->data);
}

void roast__buf_put_signed(struct roast_buf *buf, int64_t value)
{
    roast__buf_put_varint(buf, roast__zigzag(value));
}

static void put_little_endian(struct roast_buf *buf, uint64_t value, size_t size_bytes)
{
    unsigned char bytes[8];

    roast__store_fixed(bytes, value, size_bytes);
    roast__buf_put(buf, bytes, size_bytes);
}

void roast__buf_put_fixed64(struct roast_buf *buf, uint64_t value)
{
    put_little_endian(buf, value, 8);
}

uint64_t roast__cursor_varint(struct roast_cursor *cur)
{
    uint64_t value;

    if (roast__load_varint(&cur->at, cur->end, &value))
        return value;
    cur->failed = true;
    return 0;
}

int64_t roast__cursor_signed(struct roast_cursor *cur)
{
    return roast__unzigzag(roast__cursor_varint(cur));
}

static uint64_t read_little_endian(struct roast_cursor *cur, size_t size_bytes)
{
    const unsigned char *bytes = roast__cursor_bytes(cur, size_bytes);
    return bytes ? roast__load_fixed(bytes, size_bytes) : 0;
}

uint32_t roast__cursor_fixed32(struct roast_cursor *cur)
{
    return (uint32_t)read_little_endian(cur, 4);
}

uint64_t roast__cursor_fixed64(struct roast_cursor *cur)
{
    return read_little_endian(cur, 8);
}

const unsigned char *roast__cursor_bytes(struct roast_cursor *cur, uint64_t size_bytes)
{
    const unsigned char *bytes = cur->at;

    if (cur->failed || size_bytes > roast__cursor_remaining(cur)) {
        cur->failed = true;
        return NULL;
    }
    if (size_bytes > 0) /* an empty cursor may be at NULL */
        cur->at += size_bytes;
    return bytes;
}
