/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.h - frames made by hand: any version, kind and field bytes, and a right
 * CRC, so that what is inside is what gets tested. */
#ifndef ROAST_TESTS_FRAMES_H
#define ROAST_TESTS_FRAMES_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "roast/record.h"
#include "support.h"

/* A frame around fields, in out; version_kind is its second byte. */
static inline void raw_frame(struct roast_buf *out, unsigned version_kind,
                             struct roast_str fields)
{
    const unsigned char head[2] = {0xcf, (unsigned char)version_kind};
    unsigned char crc[4];
    size_t from = out->size_bytes;

    roast__buf_put(out, head, sizeof(head));
    roast__buf_put_varint(out, fields.size_bytes);
    roast__buf_put(out, fields.data, fields.size_bytes);
    roast__store_fixed(crc, roast__crc32c(out->data + from, out->size_bytes - from),
                       sizeof(crc));
    roast__buf_put(out, crc, sizeof(crc));
    assert_true(roast__buf_ok(out));
}

static inline struct roast_str buf_str(const struct roast_buf *buf)
{
    return str_from(buf->data, buf->size_bytes);
}

/* Appends one field: its tag, then a varint, eight bytes or sized bytes. */
static inline void raw_field(struct roast_buf *out, uint64_t number, unsigned wire)
{
    roast__buf_put_varint(out, number << 2 | wire);
    if (wire == 0)
        roast__buf_put_varint(out, UINT64_MAX);
    else if (wire == 1)
        roast__buf_put_fixed64(out, UINT64_MAX);
    else if (wire == 2)
        roast__buf_put(out, "\x03ing", 4);
}

static inline bool same_value(const roast_record *a, const roast_record *b,
                              enum roast_field field)
{
    enum roast_field_type type = roast_field_info(field)->type;

    if (type == ROAST_TYPE_TEXT || type == ROAST_TYPE_BLOB)
        return str_equal(a->values[field].str, b->values[field].str);
    return a->values[field].u64 == b->values[field].u64;
}

static inline void assert_same_record(const roast_record *a, const roast_record *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_true(a->present == b->present);
    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        enum roast_field field = (enum roast_field)i;
        if (roast_record_has(a, field) && !same_value(a, b, field))
            fail_msg("field %s differs", roast_field_info(field)->name);
    }
}

#endif
