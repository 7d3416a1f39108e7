/* SPDX-License-Identifier: BSD-3-Clause */
/* frame.c - records to frames and back.
 *
 *     byte 0     0xCF
 *     byte 1     version << 4 | kind
 *     varint     size of the fields in bytes
 *     fields     tag, value; tag, value; ...
 *     4 bytes    CRC-32C of everything before, little endian
 *
 * The empty end frame of version 1:   CF 13 00  54 57 A5 6B
 * A chunk with status ok (field 6, varint 1) and duration 300 ns (field 5, varint):
 *     CF 12 05  14 AC 02  18 01  AF A2 82 73       tags: 5 << 2 | 0 and 6 << 2 | 0
 *
 * Encoding writes to the caller's fixed memory: it is on the hot path. */
#include "base/buf.h"
#include "base/byte_writer.h"
#include "base/checksum.h"
#include "record/fields.h"
#include "record/frame_scan.h"

enum { CRC_BYTES = 4 };

static size_t field_bound(const roast_record *rec, enum roast_field field)
{
    enum { TAG_BYTES = 2 };
    enum roast_wire wire = roast__field_wire(roast_field_info(field)->type);

    if (wire == ROAST_WIRE_BYTES)
        return TAG_BYTES + ROAST_VARINT_MAX_BYTES + rec->values[field].str.size_bytes;
    return TAG_BYTES + ROAST_VARINT_MAX_BYTES;
}

size_t roast_record_bound(const roast_record *rec)
{
    size_t bound = ROAST_FRAME_OVERHEAD_BYTES;

    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        if (roast_record_has(rec, (enum roast_field)i))
            bound += field_bound(rec, (enum roast_field)i);
    }
    return bound;
}

static void sink_field(struct roast_byte_writer *out, enum roast_field field,
                       union roast_field_value value)
{
    const struct roast_field_info *info = roast_field_info(field);
    enum roast_wire wire = roast__field_wire(info->type);

    roast__write_varint(out, (uint64_t)info->number << 2 | wire);
    switch (info->type) {
    case ROAST_TYPE_U64:
        roast__write_varint(out, value.u64);
        break;
    case ROAST_TYPE_I64:
        roast__write_varint(out, roast__zigzag(value.i64));
        break;
    case ROAST_TYPE_TIME:
        roast__write_fixed(out, (uint64_t)value.i64, 8);
        break;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        roast__write_varint(out, value.str.size_bytes);
        roast__write_bytes(out, value.str.data, value.str.size_bytes);
        break;
    }
}

/* The size of the fields is a varint before them, so they are written after room for
 * the longest one, and moved when the size is known. */
int64_t roast_record_encode(void *out, size_t out_bytes, const roast_record *rec,
                            roast_error *err)
{
    enum { ROOM = 2 + ROAST_VARINT_MAX_BYTES };
    unsigned char *start = out;

    if (out_bytes < ROOM)
        return roast_error_set(err, ROAST_LIMIT, "%zu bytes hold no frame", out_bytes);
    struct roast_byte_writer fields = {start + ROOM, start + out_bytes, false};
    struct roast_byte_writer head = {start, start + ROOM, false};
    for (uint64_t left = rec->present; left && !fields.full; left &= left - 1) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        sink_field(&fields, field, rec->values[field]);
    }
    if (fields.full) /* the CRC fits in the unused room of the size */
        return roast_error_set(err, ROAST_LIMIT, "a frame needs more than %zu bytes",
                               out_bytes);
    size_t fields_bytes = (size_t)(fields.at - (start + ROOM));
    *head.at++ = ROAST_FRAME_MAGIC;
    *head.at++ = (unsigned char)(ROAST_FORMAT_VERSION << 4 | rec->kind);
    roast__write_varint(&head, fields_bytes);
    memmove(head.at, start + ROOM, fields_bytes);
    head.at += fields_bytes;
    head.end = start + out_bytes;
    roast__write_fixed(&head, roast__crc32c(start, (size_t)(head.at - start)),
                       CRC_BYTES);
    return head.at - start;
}

/* Checks magic, version, size and CRC; *fields gets the bytes between. The caller
 * checks the kind. */
static int open_frame(struct roast_str *fields, size_t *used_bytes,
                      struct roast_str data, roast_error *err)
{
    struct roast_cursor cur = roast__cursor(data.data, data.size_bytes);
    const unsigned char *start = cur.at;

    if (data.size_bytes < 3 + CRC_BYTES)
        return roast_error_set(err, ROAST_TRUNCATED, "%zu bytes are no frame",
                               data.size_bytes);
    if (start[0] != ROAST_FRAME_MAGIC)
        return roast_error_set(err, ROAST_BAD_DATA,
                               "frame starts with 0x%02x, not 0x%02x", start[0],
                               (unsigned)ROAST_FRAME_MAGIC);
    if (start[1] >> 4 != ROAST_FORMAT_VERSION)
        return roast_error_set(err, ROAST_NEWER_FORMAT,
                               "frame of version %u, this reads version %d",
                               start[1] >> 4, ROAST_FORMAT_VERSION);
    cur.at += 2;
    fields->size_bytes = (size_t)roast__cursor_varint(&cur);
    fields->data = (const char *)cur.at;
    if (!roast__cursor_bytes(&cur, fields->size_bytes) ||
        roast__cursor_remaining(&cur) < CRC_BYTES)
        return roast_error_set(err, ROAST_TRUNCATED, "frame cut at %zu bytes",
                               data.size_bytes);
    size_t covered = (size_t)(cur.at - start);
    if (roast__cursor_fixed32(&cur) != roast__crc32c(start, covered))
        return roast_error_set(err, ROAST_BAD_CHECKSUM, "frame of %zu bytes", covered);
    *used_bytes = covered + CRC_BYTES;
    return ROAST_OK;
}

int roast__frame_check(size_t *size_bytes, struct roast_str data, roast_error *err)
{
    struct roast_str fields;

    return open_frame(&fields, size_bytes, data, err);
}

static union roast_field_value read_value(struct roast_cursor *cur, unsigned wire,
                                          enum roast_field_type type)
{
    union roast_field_value value = {.str = {NULL, 0}};

    switch (wire) {
    case ROAST_WIRE_VARINT:
        if (type == ROAST_TYPE_I64)
            value.i64 = roast__cursor_signed(cur);
        else
            value.u64 = roast__cursor_varint(cur);
        break;
    case ROAST_WIRE_FIXED64:
        value.i64 = (int64_t)roast__cursor_fixed64(cur);
        break;
    case ROAST_WIRE_BYTES:
        value.str.size_bytes = (size_t)roast__cursor_varint(cur);
        value.str.data = (const char *)roast__cursor_bytes(cur, value.str.size_bytes);
        break;
    default:
        cur->failed = true;
    }
    return value;
}

/* A field whose wire type is not the one of the list is treated as unknown: a later
 * version may change the wire type, but never the meaning of a (number, wire) pair. */
static void read_field(struct roast_cursor *cur, roast_record *rec)
{
    uint64_t tag = roast__cursor_varint(cur);
    unsigned wire = (unsigned)(tag & 3);
    enum roast_field field = roast__field_by_number(tag >> 2);
    bool known = field != ROAST_FIELD_COUNT &&
                 roast__field_wire(roast_field_info(field)->type) == wire;
    enum roast_field_type type = known ? roast_field_info(field)->type : ROAST_TYPE_U64;
    union roast_field_value value = read_value(cur, wire, type);

    if (known && !cur->failed) {
        rec->values[field] = value;
        rec->present |= UINT64_C(1) << field;
    }
}

int roast_record_decode(roast_record *rec, size_t *used_bytes, struct roast_str data,
                        roast_error *err)
{
    struct roast_str fields = {NULL, 0};
    size_t used = 0;

    rec->present = 0;
    int status = open_frame(&fields, &used, data, err);
    if (status < 0)
        return status;
    rec->kind = (enum roast_frame_kind)(data.data[1] & 0x0f);
    struct roast_cursor cur = roast__cursor(fields.data, fields.size_bytes);
    while (roast__cursor_remaining(&cur) > 0 && !cur.failed)
        read_field(&cur, rec);
    if (cur.failed) {
        rec->present = 0;
        return roast_error_set(err, ROAST_BAD_DATA, "a field runs past its frame");
    }
    if (used_bytes)
        *used_bytes = used;
    return ROAST_OK;
}
