/* SPDX-License-Identifier: BSD-3-Clause */
/* json_write.c - writes JSON piece by piece to any destination.
 *
 * The only state between two calls is whether a comma is due: not after an opening
 * bracket or a key, but after any value. */
#include "roast/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

enum {
    PIECE_BYTES = 256,
    ESCAPED_BYTES = 12, /* the longest escape: two units */
    REPLACEMENT = 0xfffd,
    FIRST_PAIR = 0x10000,
};

static void put(struct roast_json *json, const char *text)
{
    json->put(json->context, text, strlen(text));
}

static void begin_value(struct roast_json *json)
{
    if (json->comma)
        put(json, ",");
    json->comma = true;
}

void roast_json_open(struct roast_json *json, char bracket)
{
    begin_value(json);
    json->put(json->context, &bracket, 1);
    json->comma = false;
}

void roast_json_close(struct roast_json *json, char bracket)
{
    json->put(json->context, &bracket, 1);
    json->comma = true;
}

void roast_json_raw(struct roast_json *json, struct roast_str raw)
{
    begin_value(json);
    json->put(json->context, raw.data, raw.size_bytes);
}

/* ---- texts -------------------------------------------------------------------- */

static char *put_unit(char *at, unsigned unit)
{
    static const char digits[] = "0123456789abcdef";

    *at++ = '\\';
    *at++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *at++ = digits[(unit >> shift) & 15];
    return at;
}

/* Takes the character at the front of a text that is not empty, and writes it escaped;
 * at most ESCAPED_BYTES. With `utf8` only what JSON requires is escaped. */
static char *put_next(char *at, bool utf8, struct roast_str *text)
{
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    uint32_t code = 0;
    size_t size = roast__utf8_decode(&code, *text);
    struct roast_str bytes = {text->data, size};

    if (size == 0) {
        code = REPLACEMENT;
        bytes = roast_str_of("\xef\xbf\xbd");
        size = 1;
    }
    text->data += size;
    text->size_bytes -= size;
    const char *found = code > 0 && code < 0x80 ? strchr(from, (int)code) : NULL;
    if (found) {
        *at++ = '\\';
        *at++ = to[found - from];
    } else if (code >= 0x20 && (utf8 || code < 0x7f)) {
        memcpy(at, bytes.data, bytes.size_bytes);
        at += bytes.size_bytes;
    } else if (code < FIRST_PAIR) {
        at = put_unit(at, code);
    } else {
        at = put_unit(at, 0xd800 + ((code - FIRST_PAIR) >> 10));
        at = put_unit(at, 0xdc00 + ((code - FIRST_PAIR) & 0x3ff));
    }
    return at;
}

static void put_escaped(struct roast_json *json, struct roast_str text)
{
    char piece[PIECE_BYTES];
    char *at = piece;

    *at++ = '"';
    while (text.size_bytes > 0) {
        at = put_next(at, json->utf8, &text);
        if (at > piece + sizeof(piece) - ESCAPED_BYTES - 1) {
            json->put(json->context, piece, (size_t)(at - piece));
            at = piece;
        }
    }
    *at++ = '"';
    json->put(json->context, piece, (size_t)(at - piece));
}

void roast_json_text(struct roast_json *json, struct roast_str text)
{
    if (!text.data) {
        roast_json_null(json);
        return;
    }
    begin_value(json);
    put_escaped(json, text);
}

void roast_json_key(struct roast_json *json, struct roast_str key)
{
    begin_value(json);
    put_escaped(json, key);
    put(json, ":");
    json->comma = false;
}

/* ---- numbers ------------------------------------------------------------------ */

void roast_json_null(struct roast_json *json)
{
    begin_value(json);
    put(json, "null");
}

void roast_json_bool(struct roast_json *json, bool value)
{
    begin_value(json);
    put(json, value ? "true" : "false");
}

void roast_json_count(struct roast_json *json, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    begin_value(json);
    put(json, text);
}

void roast_json_integer(struct roast_json *json, int64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRId64, value);
    begin_value(json);
    put(json, text);
}

void roast_json_number(struct roast_json *json, double value)
{
    char text[ROAST_JSON_NUMBER_BYTES];

    (void)roast_shortest_number(text, value);
    begin_value(json);
    put(json, text);
}

size_t roast_shortest_number(char out[ROAST_JSON_NUMBER_BYTES], double value)
{
    if (!isfinite(value)) {
        memcpy(out, "null", 5);
        return 4;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(out, ROAST_JSON_NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    /* printf uses the decimal point of the locale, which may have several bytes */
    char *to = out;
    for (const char *from = out; *from; from++) {
        if (strchr("0123456789+-e", *from))
            *to++ = *from;
        else if (to == out || to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
    size_t size = (size_t)(to - out);
    if (!strpbrk(out, ".e")) { /* so that readers parse it as a float */
        memcpy(out + size, ".0", 3);
        size += 2;
    }
    return size;
}
