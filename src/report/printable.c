/* SPDX-License-Identifier: BSD-3-Clause */
/* printable.c - text from data made safe for a terminal, for callers that write lines. */
#include "roast/report.h"
#include "table/glyphs.h"

size_t roast_printable(char *out, struct roast_str text, size_t *columns)
{
    struct roast_glyphs glyphs = roast__glyphs(text);
    char *end = out;
    size_t all = 0;

    while (roast__glyphs_next(&glyphs)) {
        memcpy(end, glyphs.shown.data, glyphs.shown.size_bytes);
        end += glyphs.shown.size_bytes;
        all += glyphs.columns;
    }
    if (columns)
        *columns = all;
    return (size_t)(end - out);
}
