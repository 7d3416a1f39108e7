/* SPDX-License-Identifier: BSD-3-Clause */
/* byte_writer.h - writes bytes to fixed memory, with sticky failure.
 *
 * For code that must not allocate: append as often as you like, then check `full` once.
 * `at` never passes `end`. */
#ifndef ROAST_BASE_BYTE_WRITER_H
#define ROAST_BASE_BYTE_WRITER_H

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

struct roast_byte_writer {
    unsigned char *at;
    unsigned char *end;
    bool full; /* something did not fit */
};

static inline struct roast_byte_writer roast__byte_writer(void *out, size_t out_bytes)
{
    unsigned char *start = out;
    struct roast_byte_writer sink = {start, start ? start + out_bytes : start, false};
    return sink;
}

static inline void roast__write_bytes(struct roast_byte_writer *out, const void *bytes,
                                      size_t size_bytes)
{
    if (out->full || (size_t)(out->end - out->at) < size_bytes) {
        out->full = true;
        return;
    }
    if (size_bytes > 0)
        memcpy(out->at, bytes, size_bytes);
    out->at += size_bytes;
}

static inline void roast__write_varint(struct roast_byte_writer *out, uint64_t value)
{
    unsigned char bytes[ROAST_VARINT_MAX_BYTES];

    if (!out->full && out->end - out->at >= ROAST_VARINT_MAX_BYTES)
        out->at = roast__store_varint(out->at, value);
    else
        roast__write_bytes(out, bytes,
                           (size_t)(roast__store_varint(bytes, value) - bytes));
}

static inline void roast__write_fixed(struct roast_byte_writer *out, uint64_t value,
                                      size_t size_bytes)
{
    unsigned char bytes[8];

    roast__store_fixed(bytes, value, size_bytes);
    roast__write_bytes(out, bytes, size_bytes);
}

#endif
