/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c - writes and reads the free-form values of a chunk.
 *
 *     key     length (varint), bytes
 *     value   one byte type, then: int - zigzag varint; double - 8 bytes, little
 *             endian; text and bytes - length, bytes; list - count, values;
 *             dict - count, then key and value each
 *
 * {"n": 42}          01 6E  03 54
 * {"cut": [1.0]}     03 63 75 74  07 01  04 00 00 00 00 00 00 F0 3F */
#include "record/values.h"

#include <string.h>

#include "base/bytes.h"

void roast__values_release(struct roast_values *values)
{
    roast__buf_release(&values->buf);
    values->too_large = false;
}

void roast__values_clear(struct roast_values *values)
{
    roast__buf_clear(&values->buf);
    values->too_large = false;
}

size_t roast_values_mark(const roast_values *values)
{
    return values->buf.size_bytes;
}

void roast_values_rewind(roast_values *values, size_t mark)
{
    values->buf.size_bytes = mark;
    values->buf.failed = false;
    values->too_large = false;
}

bool roast_values_ok(const roast_values *values)
{
    return !values->too_large && roast__buf_ok(&values->buf);
}

struct roast_str roast_values_blob(const roast_values *values)
{
    struct roast_str blob = {(const char *)values->buf.data, values->buf.size_bytes};

    if (blob.size_bytes == 0)
        blob.data = NULL;
    return blob;
}

/* Whether there is room for this many bytes with type and length. */
static bool has_room(roast_values *values, size_t more_bytes)
{
    size_t need = more_bytes + 1 + ROAST_VARINT_MAX_BYTES;

    if (need > ROAST_VALUE_MAX_BYTES ||
        values->buf.size_bytes > ROAST_VALUE_MAX_BYTES - need)
        values->too_large = true;
    return roast_values_ok(values);
}

static void put_type(roast_values *values, enum roast_value_type type)
{
    unsigned char byte = (unsigned char)type;
    roast__buf_put(&values->buf, &byte, 1);
}

static void put_sized(roast_values *values, struct roast_str str)
{
    roast__buf_put_varint(&values->buf, str.size_bytes);
    roast__buf_put(&values->buf, str.data, str.size_bytes);
}

void roast_values_put_key(roast_values *values, struct roast_str key)
{
    if (has_room(values, key.size_bytes))
        put_sized(values, key);
}

void roast_values_put_null(roast_values *values)
{
    if (has_room(values, 0))
        put_type(values, ROAST_VALUE_NULL);
}

void roast_values_put_bool(roast_values *values, bool value)
{
    if (has_room(values, 0))
        put_type(values, value ? ROAST_VALUE_TRUE : ROAST_VALUE_FALSE);
}

void roast_values_put_int(roast_values *values, int64_t value)
{
    if (!has_room(values, 0))
        return;
    put_type(values, ROAST_VALUE_INT);
    roast__buf_put_signed(&values->buf, value);
}

void roast_values_put_double(roast_values *values, double value)
{
    uint64_t bits;

    if (!has_room(values, sizeof(bits)))
        return;
    memcpy(&bits, &value, sizeof(bits));
    put_type(values, ROAST_VALUE_DOUBLE);
    roast__buf_put_fixed64(&values->buf, bits);
}

void roast_values_put_text(roast_values *values, struct roast_str text)
{
    if (!has_room(values, text.size_bytes))
        return;
    put_type(values, ROAST_VALUE_TEXT);
    put_sized(values, text);
}

void roast_values_put_bytes(roast_values *values, struct roast_str bytes)
{
    if (!has_room(values, bytes.size_bytes))
        return;
    put_type(values, ROAST_VALUE_BYTES);
    put_sized(values, bytes);
}

static void put_container(roast_values *values, enum roast_value_type type,
                          uint64_t count)
{
    if (!has_room(values, 0))
        return;
    put_type(values, type);
    roast__buf_put_varint(&values->buf, count);
}

void roast_values_put_list(roast_values *values, uint64_t count)
{
    put_container(values, ROAST_VALUE_LIST, count);
}

void roast_values_put_dict(roast_values *values, uint64_t count)
{
    put_container(values, ROAST_VALUE_DICT, count);
}

/* Ends a step of reading: advances blob, or reports that it is broken. */
static int step(const struct roast_cursor *cur, struct roast_str *blob,
                roast_error *err)
{
    if (cur->failed)
        return roast_error_set(err, ROAST_BAD_DATA, "a value in the last %zu bytes",
                               blob->size_bytes);
    blob->size_bytes = roast__cursor_remaining(cur);
    blob->data = (const char *)cur->at;
    return 1;
}

static struct roast_str read_sized(struct roast_cursor *cur)
{
    struct roast_str str = {NULL, (size_t)roast__cursor_varint(cur)};

    str.data = (const char *)roast__cursor_bytes(cur, str.size_bytes);
    return str;
}

int roast_value_next_key(struct roast_str *key, struct roast_str *blob,
                         roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob->data, blob->size_bytes);

    if (roast__cursor_remaining(&cur) == 0)
        return 0;
    *key = read_sized(&cur);
    return step(&cur, blob, err);
}

static void read_payload(struct roast_cursor *cur, struct roast_value *value)
{
    uint64_t bits;

    switch (value->type) {
    case ROAST_VALUE_NULL:
    case ROAST_VALUE_FALSE:
    case ROAST_VALUE_TRUE:
        break;
    case ROAST_VALUE_INT:
        value->integer = roast__cursor_signed(cur);
        break;
    case ROAST_VALUE_DOUBLE:
        bits = roast__cursor_fixed64(cur);
        memcpy(&value->number, &bits, sizeof(bits));
        break;
    case ROAST_VALUE_TEXT:
    case ROAST_VALUE_BYTES:
        value->str = read_sized(cur);
        break;
    case ROAST_VALUE_LIST:
    case ROAST_VALUE_DICT:
        value->count = roast__cursor_varint(cur);
        break;
    case ROAST_VALUE_COUNT:
    default:
        cur->failed = true;
    }
}

int roast_value_next(struct roast_value *value, struct roast_str *blob,
                     roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob->data, blob->size_bytes);

    if (roast__cursor_remaining(&cur) == 0)
        return 0;
    memset(value, 0, sizeof(*value));
    value->type = (enum roast_value_type) * cur.at++;
    read_payload(&cur, value);
    return step(&cur, blob, err);
}

/* A container whose items are being checked. */
struct level {
    uint64_t left;
    bool keyed;
};

static int bad_nesting(roast_error *err)
{
    return roast_error_set(err, ROAST_BAD_DATA, "values end early or nest over %d deep",
                           ROAST_VALUE_MAX_DEPTH);
}

int roast_value_skip(struct roast_str *blob, roast_error *err)
{
    struct level levels[ROAST_VALUE_MAX_DEPTH + 1] = {{1, false}};
    size_t depth = 1;

    while (depth > 0) {
        struct level *top = &levels[depth - 1];
        struct roast_value value;
        struct roast_str key;
        if (top->left == 0) {
            depth--;
            continue;
        }
        top->left--;
        if (top->keyed && roast_value_next_key(&key, blob, err) != 1)
            return bad_nesting(err);
        if (roast_value_next(&value, blob, err) != 1)
            return bad_nesting(err);
        if (value.type != ROAST_VALUE_LIST && value.type != ROAST_VALUE_DICT)
            continue;
        if (depth > ROAST_VALUE_MAX_DEPTH)
            return bad_nesting(err);
        levels[depth++] = (struct level){value.count, value.type == ROAST_VALUE_DICT};
    }
    return ROAST_OK;
}

int roast_values_check(struct roast_str blob, roast_error *err)
{
    struct roast_str key;
    int got;

    while ((got = roast_value_next_key(&key, &blob, err)) == 1) {
        int status = roast_value_skip(&blob, err);
        if (status < 0)
            return status;
    }
    return got;
}
