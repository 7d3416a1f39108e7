/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - cuts text at character boundaries; releases a returned text. */
#include "roast/text.h"

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
