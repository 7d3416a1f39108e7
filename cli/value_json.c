/* SPDX-License-Identifier: BSD-3-Clause */
/* value_json.c - free-form values of a chunk as JSON.
 *
 * A blob is a list of tokens; what is open is a small stack, so nothing recurses. Bytes
 * become {"hex": "..."}, since JSON has none. */
#include <stdio.h>

#include "out.h"
#include "record_json.h"
#include "roast/value.h"

struct container {
    uint64_t left; /* items or entries to come */
    bool dict;
};

struct nest {
    struct container open[ROAST_VALUE_MAX_DEPTH + 1];
    size_t depth;
};

void put_hex(struct roast_json *json, struct roast_str bytes)
{
    static const char digits[] = "0123456789abcdef";

    roast_json_made(json, (struct roast_str){"", 0}); /* the comma, if one is due */
    json->put(json->context, "\"", 1);
    for (size_t i = 0; i < bytes.size_bytes; i++) {
        unsigned byte = (unsigned char)bytes.data[i];
        const char pair[2] = {digits[byte >> 4], digits[byte & 15]};
        json->put(json->context, pair, sizeof(pair));
    }
    json->put(json->context, "\"", 1);
}

static void put_bytes(struct roast_json *json, struct roast_str bytes)
{
    roast_json_open(json, '{');
    json_key(json, "hex");
    put_hex(json, bytes);
    roast_json_close(json, '}');
}

static void open_container(struct roast_json *json, struct nest *nest,
                           const struct roast_value *value)
{
    bool dict = value->type == ROAST_VALUE_DICT;

    roast_json_open(json, dict ? '{' : '[');
    nest->open[nest->depth++] = (struct container){value->count, dict};
}

static void put_value(struct roast_json *json, struct nest *nest,
                      const struct roast_value *value)
{
    switch (value->type) {
    case ROAST_VALUE_NULL:
        roast_json_null(json);
        break;
    case ROAST_VALUE_FALSE:
    case ROAST_VALUE_TRUE:
        roast_json_bool(json, value->type == ROAST_VALUE_TRUE);
        break;
    case ROAST_VALUE_INT:
        roast_json_integer(json, value->integer);
        break;
    case ROAST_VALUE_DOUBLE:
        roast_json_number(json, value->number);
        break;
    case ROAST_VALUE_TEXT:
        roast_json_text(json, value->str);
        break;
    case ROAST_VALUE_BYTES:
        put_bytes(json, value->str);
        break;
    case ROAST_VALUE_LIST:
    case ROAST_VALUE_DICT:
        open_container(json, nest, value);
        break;
    }
}

/* Closes what is complete; false when nothing is open any more. */
static bool close_complete(struct roast_json *json, struct nest *nest)
{
    while (nest->depth > 0 && nest->open[nest->depth - 1].left == 0)
        roast_json_close(json, nest->open[--nest->depth].dict ? '}' : ']');
    return nest->depth > 0;
}

/* One value and all that is in it; the blob was checked. */
static void put_whole_value(struct roast_json *json, struct roast_str *blob)
{
    struct nest nest = {.depth = 0};

    do {
        struct roast_value value;
        struct roast_str key;
        if (nest.depth > 0) {
            struct container *inner = &nest.open[nest.depth - 1];
            inner->left--;
            if (inner->dict && roast_value_next_key(&key, blob, NULL) == 1)
                roast_json_key(json, key);
        }
        if (roast_value_next(&value, blob, NULL) != 1)
            return;
        put_value(json, &nest, &value);
    } while (close_complete(json, &nest));
}

void put_values(struct roast_json *json, struct roast_str blob)
{
    struct roast_str key;

    if (roast_values_check(blob, NULL) < 0) {
        roast_json_null(json);
        return;
    }
    roast_json_open(json, '{');
    while (roast_value_next_key(&key, &blob, NULL) == 1) {
        roast_json_key(json, key);
        put_whole_value(json, &blob);
    }
    roast_json_close(json, '}');
}
