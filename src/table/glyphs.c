/* SPDX-License-Identifier: BSD-3-Clause */
/* glyphs.c - text from data, made printable for a terminal or a page.
 *
 * The ranges below are the common ones, not all of Unicode: the width of a rare script may
 * be wrong, but no dangerous character is written. */
#include "table/glyphs.h"

#include <stdint.h>

#include "base/utf8.h"
#include "roast/row_writer.h"

enum { MAX_MARKS = 4 };

struct range {
    uint32_t first, last;
};

/* Controls, bidirectional overrides, invisible characters, fillers, no characters. */
static const struct range hidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad}, {0x034f, 0x034f},
    {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5}, {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static const struct range marks[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},
    {0x064b, 0x065f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static const struct range wide[] = {
    {0x1100, 0x115e},   {0x2e80, 0x303e},   {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

#define IN(code, ranges) in_ranges(code, ranges, sizeof(ranges) / sizeof((ranges)[0]))

static bool in_ranges(uint32_t code, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count && code >= ranges[i].first; i++)
        if (code <= ranges[i].last)
            return true;
    return false;
}

struct roast_glyphs roast__glyphs(struct roast_str text)
{
    /* A mark at the start would combine with the text before it. */
    struct roast_glyphs glyphs = {.rest = text, .marks = MAX_MARKS};

    if (!text.data)
        glyphs.rest.size_bytes = 0;
    return glyphs;
}

bool roast__glyphs_next(struct roast_glyphs *glyphs)
{
    uint32_t code = 0;

    if (glyphs->rest.size_bytes == 0)
        return false;
    size_t size = roast__utf8_decode(&code, glyphs->rest);
    bool mark = size > 0 && IN(code, marks);
    bool bad = size == 0 || IN(code, hidden) || (code & 0xfffe) == 0xfffe ||
               (mark && glyphs->marks >= MAX_MARKS);

    size = size > 0 ? size : 1;
    glyphs->shown = (struct roast_str){bad ? "?" : glyphs->rest.data, bad ? 1 : size};
    glyphs->columns = bad ? 1 : mark ? 0 : IN(code, wide) ? 2 : 1;
    glyphs->marks = mark ? glyphs->marks + !bad : 0;
    glyphs->rest.data += size;
    glyphs->rest.size_bytes -= size;
    return true;
}

size_t roast_printable(char *out, struct roast_str text)
{
    struct roast_glyphs glyphs = roast__glyphs(text);
    size_t size = 0;

    while (roast__glyphs_next(&glyphs)) {
        memcpy(out + size, glyphs.shown.data, glyphs.shown.size_bytes);
        size += glyphs.shown.size_bytes;
    }
    return size;
}

size_t roast__text_columns(struct roast_str text)
{
    struct roast_glyphs glyphs = roast__glyphs(text);
    size_t columns = 0;

    while (roast__glyphs_next(&glyphs))
        columns += glyphs.columns;
    return columns;
}

/* Appends glyphs while they fit into max_columns; returns the columns. A glyph that does
 * not fit is consumed. */
static size_t put_glyphs(struct roast_buf *buf, struct roast_glyphs *glyphs,
                         size_t max_columns)
{
    size_t columns = 0;

    while (columns <= max_columns && roast__glyphs_next(glyphs)) {
        if (columns + glyphs->columns > max_columns)
            break;
        columns += glyphs->columns;
        roast__buf_put(buf, glyphs->shown.data, glyphs->shown.size_bytes);
    }
    return columns;
}

size_t roast__put_text(struct roast_buf *buf, struct roast_str text, size_t max_columns,
                       enum roast_cut cut)
{
    struct roast_glyphs front = roast__glyphs(text);
    struct roast_glyphs back = front;
    size_t all = roast__text_columns(text);

    if (all <= max_columns)
        return put_glyphs(buf, &front, max_columns);
    size_t dots = max_columns < 3 ? max_columns : 3;
    size_t kept = max_columns - dots;
    size_t behind = cut == ROAST_CUT_MIDDLE ? kept / 2 : 0;
    size_t columns = put_glyphs(buf, &front, kept - behind);

    roast__buf_put(buf, "...", dots);
    while (all > behind && roast__glyphs_next(&back))
        all -= back.columns;
    return columns + dots + put_glyphs(buf, &back, behind);
}

void roast__put(struct roast_buf *buf, const char *text)
{
    roast__buf_put(buf, text, strlen(text));
}

void roast__put_blanks(struct roast_buf *buf, size_t count)
{
    for (size_t i = 0; i < count; i++)
        roast__buf_put(buf, " ", 1);
}

static const char *html_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void roast__put_html(struct roast_buf *buf, struct roast_str printable)
{
    for (size_t i = 0; i < printable.size_bytes; i++) {
        const char *entity = html_entity(printable.data[i]);
        if (entity)
            roast__put(buf, entity);
        else
            roast__buf_put(buf, &printable.data[i], 1);
    }
}
