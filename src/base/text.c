/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - cuts text at character boundaries, reads numbers, releases a returned text. */
#include "base/str.h"

#include "base/mem.h"

struct roast_str roast_str_cut(struct roast_str str, size_t max_bytes)
{
    if (str.size_bytes > max_bytes) {
        str.size_bytes = max_bytes;
        while (str.size_bytes > 0 &&
               ((unsigned char)str.data[str.size_bytes] & 0xc0) == 0x80)
            str.size_bytes--;
    }
    return str;
}

void roast_page_release(struct roast_page *page)
{
    roast__free(page->text);
    page->text = NULL;
    page->size_bytes = 0;
}

bool roast__str_take_int(struct roast_str *text, int64_t *value)
{
    bool is_negative = text->size_bytes > 0 && text->data[0] == '-';
    size_t first = is_negative, at = first;
    int64_t number = 0;

    for (; at < text->size_bytes && text->data[at] != ' '; at++) {
        int digit = text->data[at] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    if (at == first)
        return false;
    *value = is_negative ? -number : number;
    *text = at < text->size_bytes
                ? (struct roast_str){text->data + at + 1, text->size_bytes - at - 1}
                : (struct roast_str){NULL, 0};
    return true;
}
