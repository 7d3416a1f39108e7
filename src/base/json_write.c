/* SPDX-License-Identifier: BSD-3-Clause */
/* json_write.c - JSON, written piece by piece to anywhere.
 *
 * Only one thing has to be remembered between two calls, whether a comma is due: a
 * bracket or key that was just opened owes none, anything that ended does. */
#include "roast/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

enum { PIECE_BYTES = 256, ESCAPED_BYTES = 12, REPLACEMENT = 0xfffd };
enum { FIRST_PAIR = 0x10000 };

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

void roast_json_made(struct roast_json *json, struct roast_str made)
{
    begin_value(json);
    json->put(json->context, made.data, made.size_bytes);
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

/* The escape of two letters, for what has one. */
static bool put_short(char **at, uint32_t code)
{
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    const char *found = code > 0 && code < 0x80 ? strchr(from, (int)code) : NULL;

    if (!found)
        return false;
    *(*at)++ = '\\';
    *(*at)++ = to[found - from];
    return true;
}

/* Escapes one character; at most ESCAPED_BYTES. */
static char *put_code(char *at, uint32_t code)
{
    if (put_short(&at, code))
        return at;
    if (code >= 0x20 && code < 0x7f)
        *at++ = (char)code;
    else if (code < FIRST_PAIR)
        at = put_unit(at, code);
    else {
        at = put_unit(at, 0xd800 + ((code - FIRST_PAIR) >> 10));
        at = put_unit(at, 0xdc00 + ((code - FIRST_PAIR) & 0x3ff));
    }
    return at;
}

/* Keeps one character where it can. */
static char *put_kept(char *at, uint32_t code, struct roast_str bytes)
{
    if (put_short(&at, code))
        return at;
    if (code < 0x20)
        return put_unit(at, code);
    memcpy(at, bytes.data, bytes.size_bytes);
    return at + bytes.size_bytes;
}

/* Takes the character at the front of a text that is not empty. */
static char *put_next(char *at, bool utf8, struct roast_str *text)
{
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
    return utf8 ? put_kept(at, code, bytes) : put_code(at, code);
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

/* printf's point is that of the locale of the program around us. */
static size_t with_point(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (strchr("0123456789+-e", *from))
            *to++ = *from;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
    return (size_t)(to - text);
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
    size_t size = with_point(out);
    if (!strpbrk(out, ".e")) { /* so that readers take it for a float */
        memcpy(out + size, ".0", 3);
        size += 2;
    }
    return size;
}
