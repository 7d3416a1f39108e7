/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.c - parses numbers, lines and labels. */
#include "probe/linux/scan.h"

static void skip(struct roast_str *text, size_t size_bytes)
{
    text->data += size_bytes;
    text->size_bytes -= size_bytes;
}

static void skip_blanks(struct roast_str *text)
{
    while (text->size_bytes > 0 && (text->data[0] == ' ' || text->data[0] == '\t'))
        skip(text, 1);
}

bool roast__scan_u64(uint64_t *value, struct roast_str *text)
{
    struct roast_str left = *text;
    uint64_t number = 0;
    size_t digits = 0;

    skip_blanks(&left);
    for (; digits < left.size_bytes; digits++) {
        uint64_t digit = (uint64_t)left.data[digits] - '0';
        if (digit > 9)
            break;
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    char end = digits < left.size_bytes ? left.data[digits] : ' ';
    if (digits == 0 || (end != ' ' && end != '\t' && end != '\n'))
        return false;
    skip(&left, digits);
    *value = number;
    *text = left;
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
    struct roast_str left = *line;
    size_t size = strlen(label);

    if (left.size_bytes < size || memcmp(left.data, label, size) != 0)
        return false;
    skip(&left, size);
    const char *after = left.data;
    skip_blanks(&left);
    if (left.size_bytes > 0 && left.data[0] == ':')
        skip(&left, 1);
    if (left.data == after && left.size_bytes > 0)
        return false; /* a longer label: "rchars" is not "rchar" */
    skip_blanks(&left);
    *line = left;
    return true;
}

bool roast__scan_find(struct roast_str *value, struct roast_str text, const char *label)
{
    struct roast_str line;

    while (roast__scan_until(&line, &text, '\n')) {
        if (roast__scan_label(&line, label)) {
            *value = line;
            return true;
        }
    }
    return false;
}

bool roast__scan_find_u64(uint64_t *value, struct roast_str text, const char *label)
{
    struct roast_str found;
    return roast__scan_find(&found, text, label) && roast__scan_u64(value, &found);
}
