/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.c - takes numbers, lines and labels off the front of a text. */
#include "probe/linux/scan.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(char c)
{
    return is_blank(c) || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip(struct roast_str *text, size_t size_bytes)
{
    text->data += size_bytes;
    text->size_bytes -= size_bytes;
}

static void skip_blanks(struct roast_str *text)
{
    while (text->size_bytes > 0 && is_blank(text->data[0]))
        skip(text, 1);
}

/* Appends a digit; false when the number leaves 64 bits. */
static bool append_digit(uint64_t *number, char c)
{
    uint64_t digit = (uint64_t)(c - '0');

    if (*number > UINT64_MAX / 10 || *number * 10 > UINT64_MAX - digit)
        return false;
    *number = *number * 10 + digit;
    return true;
}

bool roast__scan_u64(uint64_t *value, struct roast_str *text)
{
    struct roast_str rest = *text;
    uint64_t number = 0;
    size_t digits = 0;

    skip_blanks(&rest);
    while (digits < rest.size_bytes && is_digit(rest.data[digits])) {
        if (!append_digit(&number, rest.data[digits++]))
            return false;
    }
    if (digits == 0 || (digits < rest.size_bytes && !is_space(rest.data[digits])))
        return false;
    skip(&rest, digits);
    *value = number;
    *text = rest;
    return true;
}

bool roast__scan_until(struct roast_str *part, struct roast_str *text, char stop)
{
    if (text->size_bytes == 0)
        return false;
    const char *hit = memchr(text->data, stop, text->size_bytes);
    size_t size = hit ? (size_t)(hit - text->data) : text->size_bytes;
    *part = (struct roast_str){text->data, size};
    skip(text, hit ? size + 1 : size);
    return true;
}

bool roast__scan_label(struct roast_str *line, const char *label)
{
    struct roast_str rest = *line;
    size_t size = strlen(label);

    if (rest.size_bytes < size || memcmp(rest.data, label, size) != 0)
        return false;
    skip(&rest, size);
    const char *after = rest.data;
    skip_blanks(&rest);
    if (rest.size_bytes > 0 && rest.data[0] == ':')
        skip(&rest, 1);
    if (rest.data == after && rest.size_bytes > 0)
        return false; /* the label goes on: "rchars" is not "rchar" */
    skip_blanks(&rest);
    *line = rest;
    return true;
}

bool roast__scan_find(struct roast_str *rest, struct roast_str text, const char *label)
{
    struct roast_str line;

    while (roast__scan_until(&line, &text, '\n')) {
        if (roast__scan_label(&line, label)) {
            *rest = line;
            return true;
        }
    }
    return false;
}

bool roast__scan_find_u64(uint64_t *value, struct roast_str text, const char *label)
{
    struct roast_str rest;
    return roast__scan_find(&rest, text, label) && roast__scan_u64(value, &rest);
}

bool roast__str_is(struct roast_str str, const char *text)
{
    size_t size = strlen(text);
    return str.data && str.size_bytes == size && memcmp(str.data, text, size) == 0;
}
