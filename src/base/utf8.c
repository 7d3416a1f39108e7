/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.c - decodes UTF-8 strictly: a character that is not in its shortest form is
 * refused, so that no byte sequence has a second spelling. */
#include "base/utf8.h"

#include <stdbool.h>

enum { MAX_CODE_POINT = 0x10ffff };

static size_t sequence_bytes(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if ((lead & 0xf0) == 0xe0)
        return 3;
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

size_t roast__utf8_decode(uint32_t *code, struct roast_str text)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *bytes = (const unsigned char *)text.data;
    size_t size = sequence_bytes(bytes[0]);

    if (size == 0 || size > text.size_bytes)
        return 0;
    *code = bytes[0] & lead_bits[size];
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *code = (*code << 6) | (bytes[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    if (*code < smallest[size] || *code > MAX_CODE_POINT || surrogate)
        return 0;
    return size;
}

void roast__put_utf8(struct roast_buf *out, struct roast_str text)
{
    while (text.size_bytes > 0 && roast__buf_ok(out)) {
        uint32_t code;
        size_t size = roast__utf8_decode(&code, text);
        if (size > 0)
            roast__buf_put(out, text.data, size);
        else
            roast__buf_put(out, "\xef\xbf\xbd", 3);
        size += size == 0;
        text.data += size;
        text.size_bytes -= size;
    }
}
