/* SPDX-License-Identifier: BSD-3-Clause */
/* leaf.c - the only row of a small table, out of the bytes of its page.
 *
 *     page    byte 0: 13, a leaf of a table; bytes 3-4: rows; bytes 8-9: where the first
 *             row is. All numbers are big endian
 *     row     varint size of the record, varint id, record
 *     record  varint size of its head, head (a varint for each column: its type), body
 *     type    0 NULL; 1-6 integer of 1, 2, 3, 4, 6, 8 bytes; 7 real, 8 bytes; 8 is 0 and
 *             9 is 1, without bytes; n >= 12: (n - 12) / 2 bytes, of a text if n is odd
 *     varint  7 bits a byte, high ones first; the ninth byte has 8
 *
 * A record of more than the page less 35 bytes would go on in other pages. */
#include "file/sqlite/leaf.h"

#include <string.h>

enum {
    TABLE_LEAF = 13,
    ROWS_AT = 3,
    FIRST_ROW_AT = 8,
    LEAST_ROW_AT = 10,
    LEAST_PAGE_BYTES = 480, /* the least that SQLite uses of one */
    NOT_LOCAL_BYTES = 35,
    LONGEST_VARINT_BYTES = 9,
    FIRST_SIZED_TYPE = 12,
};

/* Bytes that are not believed. A read behind the end gives 0 and sticks. */
struct bytes {
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

static const unsigned char *take(struct bytes *in, uint64_t size_bytes)
{
    const unsigned char *at = in->at;

    if (in->failed || size_bytes > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return NULL;
    }
    in->at += size_bytes;
    return at;
}

static uint64_t take_varint(struct bytes *in)
{
    uint64_t value = 0;

    for (int i = 1; i <= LONGEST_VARINT_BYTES; i++) {
        const unsigned char *byte = take(in, 1);
        if (!byte)
            return 0;
        if (i == LONGEST_VARINT_BYTES)
            return value << 8 | *byte;
        value = value << 7 | (*byte & 0x7f);
        if (*byte < 0x80)
            return value;
    }
    return value;
}

static uint64_t take_number(struct bytes *in, size_t size_bytes)
{
    const unsigned char *bytes = take(in, size_bytes);
    /* of a negative number the bytes in front are all ones */
    uint64_t value = bytes && bytes[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; bytes && i < size_bytes; i++)
        value = value << 8 | bytes[i];
    return value;
}

static struct roast_sql_value integer(uint64_t bits)
{
    return (struct roast_sql_value){.type = ROAST_SQL_INTEGER,
                                    .integer = (int64_t)bits};
}

static struct roast_sql_value take_real(struct bytes *body)
{
    struct roast_sql_value value = {.type = ROAST_SQL_REAL};
    uint64_t bits = take_number(body, sizeof(bits));

    memcpy(&value.real, &bits, sizeof(bits));
    return value;
}

static struct roast_sql_value take_sized(struct bytes *body, uint64_t type)
{
    uint64_t size = (type - FIRST_SIZED_TYPE) / 2;
    const unsigned char *bytes = take(body, size);

    return (struct roast_sql_value){
        .type = type % 2 ? ROAST_SQL_TEXT : ROAST_SQL_BYTES,
        .text = {(const char *)bytes, bytes ? (size_t)size : 0},
    };
}

static struct roast_sql_value take_value(struct bytes *body, uint64_t type)
{
    static const unsigned char integer_bytes[] = {0, 1, 2, 3, 4, 6, 8};

    if (type == 0)
        return (struct roast_sql_value){.type = ROAST_SQL_NULL};
    if (type < sizeof(integer_bytes))
        return integer(take_number(body, integer_bytes[type]));
    if (type == 7)
        return take_real(body);
    if (type == 8 || type == 9)
        return integer(type - 8);
    if (type >= FIRST_SIZED_TYPE)
        return take_sized(body, type);
    body->failed = true; /* SQLite has no use for 10 and 11 */
    return (struct roast_sql_value){.type = ROAST_SQL_NULL};
}

static bool read_record(struct roast_sql_value *out, size_t count, struct bytes record)
{
    const unsigned char *begin = record.at;
    uint64_t head_bytes = take_varint(&record);
    struct bytes body = {begin, record.end, false};

    if (record.failed || !take(&body, head_bytes) || body.at < record.at)
        return false;
    struct bytes head = {record.at, body.at, false};
    for (size_t i = 0; i < count && !head.failed && !body.failed; i++)
        out[i] = take_value(&body, take_varint(&head));
    return !head.failed && !body.failed;
}

bool roast__leaf_read(struct roast_sql_value *out, size_t count,
                      const unsigned char *page, size_t usable_bytes)
{
    if (usable_bytes < LEAST_PAGE_BYTES || page[0] != TABLE_LEAF ||
        page[ROWS_AT] != 0 || page[ROWS_AT + 1] != 1)
        return false;
    size_t at = (size_t)page[FIRST_ROW_AT] << 8 | page[FIRST_ROW_AT + 1];
    if (at < LEAST_ROW_AT || at >= usable_bytes)
        return false;
    struct bytes row = {page + at, page + usable_bytes, false};
    uint64_t size = take_varint(&row);
    uint64_t id = take_varint(&row);
    if (size > usable_bytes - NOT_LOCAL_BYTES)
        return false;
    struct bytes record = {row.at, row.at, row.failed};
    if (!take(&row, size))
        return false;
    record.end = row.at;
    if (!read_record(out, count, record) || out[0].type != ROAST_SQL_NULL)
        return false;
    out[0] = integer(id); /* it stands before the record instead */
    return true;
}
