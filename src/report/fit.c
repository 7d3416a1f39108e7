/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c - text from data made safe for a terminal, for callers that write their own lines. */
#include "roast/report.h"
#include "table/glyphs.h"

size_t roast_report_fit(char *out, struct roast_str text, size_t *columns)
{
    struct roast_glyphs glyphs = roast__glyphs(text);
    char *at = out;
    size_t all = 0;

    while (roast__glyphs_next(&glyphs)) {
        memcpy(at, glyphs.shown.data, glyphs.shown.size_bytes);
        at += glyphs.shown.size_bytes;
        all += glyphs.columns;
    }
    if (columns)
        *columns = all;
    return (size_t)(at - out);
}
