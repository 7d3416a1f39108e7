/* SPDX-License-Identifier: BSD-3-Clause */
/* text_bytes.h - bytes of an untrusted file as text. */
#ifndef ROAST_FILE_SQLITE_TEXT_BYTES_H
#define ROAST_FILE_SQLITE_TEXT_BYTES_H

#include <stdbool.h>

#include "base/utf8.h"

/* Whether it is UTF-8 without NUL. */
static inline bool roast__is_text(struct roast_str text)
{
    uint32_t code;

    while (text.size_bytes > 0) {
        size_t size = text.data[0] ? roast__utf8_decode(&code, text) : 0;
        if (size == 0)
            return false;
        text.data += size;
        text.size_bytes -= size;
    }
    return true;
}

/* Makes any bytes printable as one line, without control characters. */
static inline void roast__make_printable(char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            *text = '?';
    }
}

#endif
