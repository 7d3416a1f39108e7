/* SPDX-License-Identifier: BSD-3-Clause */
/* json_sink.c - values of a record, and cells of a table, as JSON. */
#include "roast/json_write.h"
#include "roast/view.h"

static void json_open(void *context, bool is_map)
{
    roast_json_open(context, is_map ? '{' : '[');
}

static void json_close(void *context, bool is_map)
{
    roast_json_close(context, is_map ? '}' : ']');
}

static void json_key(void *context, struct roast_str key)
{
    roast_json_key(context, key);
}

static void put_hex(struct roast_json *json, struct roast_str bytes)
{
    static const char digits[] = "0123456789abcdef";

    roast_json_open(json, '{');
    roast_json_key(json, roast_str_of("hex"));
    roast_json_raw(json, roast_str_of("\""));
    for (size_t i = 0; i < bytes.size_bytes; i++) {
        unsigned byte = (unsigned char)bytes.data[i];
        const char pair[2] = {digits[byte >> 4], digits[byte & 15]};
        json->put(json->context, pair, sizeof(pair));
    }
    json->put(json->context, "\"", 1);
    roast_json_close(json, '}');
}

static void json_value(void *context, const struct roast_value *value)
{
    switch (value->type) {
    case ROAST_VALUE_FALSE:
    case ROAST_VALUE_TRUE:
        roast_json_bool(context, value->type == ROAST_VALUE_TRUE);
        break;
    case ROAST_VALUE_INT:
        roast_json_integer(context, value->integer);
        break;
    case ROAST_VALUE_COUNT:
        roast_json_count(context, value->count);
        break;
    case ROAST_VALUE_DOUBLE:
        roast_json_number(context, value->number);
        break;
    case ROAST_VALUE_TEXT:
        roast_json_text(context, value->str);
        break;
    case ROAST_VALUE_BYTES:
        put_hex(context, value->str);
        break;
    case ROAST_VALUE_NULL:
    case ROAST_VALUE_LIST:
    case ROAST_VALUE_DICT:
        roast_json_null(context);
        break;
    }
}

struct roast_value_sink roast_json_sink(struct roast_json *json)
{
    return (struct roast_value_sink){json_open,  json_close, json_key,
                                     json_value, json,       false};
}

void roast_json_cell(struct roast_json *json, const struct roast_cell *cell)
{
    if (cell->type == ROAST_CELL_BOOL)
        roast_json_bool(json, cell->count != 0);
    else if (cell->type == ROAST_CELL_COUNT)
        roast_json_count(json, cell->count);
    else if (cell->type == ROAST_CELL_NUMBER && cell->whole)
        roast_json_integer(json, (int64_t)cell->number);
    else if (cell->type == ROAST_CELL_NUMBER)
        roast_json_number(json, cell->number);
    else if (cell->type == ROAST_CELL_TEXT)
        roast_json_text(json, cell->text);
    else
        roast_json_null(json);
}
