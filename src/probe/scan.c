/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.c - takes numbers, lines and labels off the front of a text. */
#include "probe/scan.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
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

bool roast__scan_u64(uint64_t *value, struct roast_str *text)
{
    struct roast_str rest = *text;
    uint64_t number = 0;

    skip_blanks(&rest);
    const char *first = rest.data;
    while (rest.size_bytes > 0 && rest.data[0] >= '0' && rest.data[0] <= '9') {
        uint64_t digit = (uint64_t)(rest.data[0] - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
        skip(&rest, 1);
    }
    bool ends = rest.size_bytes == 0 || is_blank(rest.data[0]) || rest.data[0] == '\n';
    if (rest.data == first || !ends)
        return false;
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
