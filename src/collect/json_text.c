/* SPDX-License-Identifier: BSD-3-Clause */
/* json_text.c - texts of JSON: escapes, UTF-8, and what is neither.
 *
 * Plain characters are copied in stretches; everything else byte by byte, because it
 * may lie across two pieces of the input. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "collect/json_bytes.h"

enum { NO_UNIT = 0x10000 };

void roast__json_room(struct roast_buf *buf, size_t more_bytes)
{
    enum { SMALLEST_BYTES = 64 };
    size_t need = buf->size_bytes + more_bytes;

    if (buf->failed || need <= buf->cap_bytes)
        return;
    size_t cap = need + need / 8 + SMALLEST_BYTES;
    unsigned char *data = roast__realloc(buf->data, cap);
    if (!data) {
        buf->failed = true;
        return;
    }
    buf->data = data;
    buf->cap_bytes = cap;
}

static void put(struct roast_buf *out, const void *bytes, size_t size_bytes)
{
    roast__json_room(out, size_bytes);
    roast__buf_put(out, bytes, size_bytes);
}

/* ---- UTF-8 ----------------------------------------------------------------------- */

static void put_code_point(struct roast_buf *out, uint32_t code)
{
    unsigned char bytes[4];
    size_t size = 0;

    if (code < 0x80) {
        bytes[size++] = (unsigned char)code;
    } else if (code < 0x800) {
        bytes[size++] = (unsigned char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[size++] = (unsigned char)(0xe0 | code >> 12);
        bytes[size++] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
    } else {
        bytes[size++] = (unsigned char)(0xf0 | code >> 18);
        bytes[size++] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
        bytes[size++] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80)
        bytes[size++] = (unsigned char)(0x80 | (code & 0x3f));
    put(out, bytes, size);
}

/* How many bytes follow a first byte, and between what the second one lies; 0: it is no
 * first byte. */
static int followers(int first, int *low, int *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf)
        return 1;
    if (first >= 0xe0 && first <= 0xef) {
        *low = first == 0xe0 ? 0xa0 : 0x80;
        *high = first == 0xed ? 0x9f : 0xbf;
        return 2;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        *low = first == 0xf0 ? 0x90 : 0x80;
        *high = first == 0xf4 ? 0x8f : 0xbf;
        return 3;
    }
    return 0;
}

/* Takes one character that is not ASCII; its bytes that make none become one '?'. */
static void take_utf8(struct roast_json_reader *in, struct roast_buf *out)
{
    unsigned char bytes[4] = {in->piece[in->at++]};
    int low, high;
    int left = followers(bytes[0], &low, &high);
    size_t size = 1;
    bool whole = left > 0;

    for (; whole && left > 0; left--) {
        int c = roast__json_here(in);
        whole = c >= low && c <= high;
        if (!whole)
            break;
        bytes[size++] = (unsigned char)c;
        in->at++;
        low = 0x80;
        high = 0xbf;
    }
    if (whole) {
        put(out, bytes, size);
        return;
    }
    put(out, "?", 1);
    in->replaced++;
}

/* ---- escapes --------------------------------------------------------------------- */

/* The value of four hexadecimal digits; NO_UNIT if they are none. */
static uint32_t take_hex(struct roast_json_reader *in)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++) {
        int c = roast__json_here(in);
        uint32_t digit = 16;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            digit = (uint32_t)((c | 0x20) - 'a' + 10);
        if (digit == 16)
            return NO_UNIT;
        value = value << 4 | digit;
        in->at++;
    }
    return value;
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

/* Half of a pair has no UTF-8: it stays as it would be written. */
static void put_half(struct roast_json_reader *in, struct roast_buf *out, uint32_t unit)
{
    char text[8];

    (void)snprintf(text, sizeof(text), "\\u%04x", (unsigned)unit);
    put(out, text, 6);
    in->replaced++;
}

static bool put_plain_escape(struct roast_buf *out, int c)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *found = c > 0 ? strchr(from, c) : NULL;

    if (found)
        put(out, &to[found - from], 1);
    return found != NULL;
}

/* Takes what follows a backslash; false if that is no escape. `\u` may be followed by
 * another one that makes a pair with it. */
static bool take_escape(struct roast_json_reader *in, struct roast_buf *out)
{
    uint32_t high = NO_UNIT;

    for (;;) {
        int c = roast__json_here(in);
        if (c != 'u') {
            if (high != NO_UNIT)
                put_half(in, out, high);
            in->at += c >= 0;
            return put_plain_escape(out, c);
        }
        in->at++;
        uint32_t unit = take_hex(in);
        if (unit == NO_UNIT)
            return false;
        if (high != NO_UNIT && is_low(unit)) {
            put_code_point(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            return true;
        }
        if (high != NO_UNIT)
            put_half(in, out, high);
        if (is_low(unit)) {
            put_half(in, out, unit);
            return true;
        }
        if (!is_high(unit)) {
            put_code_point(out, unit);
            return true;
        }
        high = unit;
        if (roast__json_here(in) != '\\') {
            put_half(in, out, high);
            return true;
        }
        in->at++;
    }
}

/* ---- a text ---------------------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void take_plain(struct roast_json_reader *in, struct roast_buf *out)
{
    size_t from = in->at;

    while (in->at < in->end && is_plain(in->piece[in->at]))
        in->at++;
    put(out, in->piece + from, in->at - from);
}

int roast__json_text(struct roast_json_reader *in, struct roast_buf *out,
                     roast_error *err)
{
    in->at++;
    roast__buf_clear(out);
    for (;;) {
        int c = roast__json_here(in);
        if (out->size_bytes > ROAST_JSON_MAX_TEXT_BYTES)
            return roast__json_refuse(in, ROAST_LIMIT, "a text over 1 MiB", err);
        if (c < 0)
            return roast__json_refuse(in, ROAST_BAD_DATA, "a text has no end", err);
        if (c == '"')
            break;
        if (c < 0x20)
            return roast__json_refuse(in, ROAST_BAD_DATA,
                                      "a control character in a text", err);
        if (c >= 0x80) {
            take_utf8(in, out);
        } else if (c != '\\') {
            take_plain(in, out);
        } else {
            in->at++;
            if (!take_escape(in, out))
                return roast__json_refuse(in, ROAST_BAD_DATA, "an unknown escape", err);
        }
    }
    in->at++;
    put(out, "", 1); /* so that even an empty text is somewhere */
    if (!roast__buf_ok(out))
        return roast_error_set(err, ROAST_NO_MEMORY, "a text of %zu bytes",
                               out->size_bytes);
    out->size_bytes--;
    return ROAST_OK;
}
