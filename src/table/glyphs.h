/* SPDX-License-Identifier: BSD-3-Clause */
/* glyphs.h - text from data, made printable for a terminal or a page.
 *
 * Names come from files, users and errors and may contain anything. Control characters,
 * those that reorder a line, invisible ones and bytes that are no UTF-8 are shown as '?'.
 * Widths are those of a terminal for the common cases (East Asian 2, combining marks 0).
 * Characters are never cut. */
#ifndef ROAST_TABLE_GLYPHS_H
#define ROAST_TABLE_GLYPHS_H

#include <stdbool.h>

#include "base/buf.h"
#include "roast/text.h"

/* An iterator over a text: start with roast__glyphs(text). */
struct roast_glyphs {
    struct roast_str rest;
    unsigned marks;         /* combining marks since the last letter */
    struct roast_str shown; /* the glyph; borrows the text, or is "?" */
    size_t columns;         /* 0, 1 or 2 */
};

struct roast_glyphs roast__glyphs(struct roast_str text);
bool roast__glyphs_next(struct roast_glyphs *glyphs);

/* The width of a text. */
size_t roast__text_columns(struct roast_str text);

enum roast_cut {
    ROAST_CUT_END,    /* sentences */
    ROAST_CUT_MIDDLE, /* names: both ends matter */
};

/* Appends at most max_columns columns of text, with "..." where it was cut. Returns the
 * columns put. */
size_t roast__put_text(struct roast_buf *buf, struct roast_str text, size_t max_columns,
                       enum roast_cut cut);

/* Constant text, appended unchanged. */
void roast__put(struct roast_buf *buf, const char *text);
void roast__put_blanks(struct roast_buf *buf, size_t count);

/* Appends printable text, escaped for HTML and attribute values. */
void roast__put_html(struct roast_buf *buf, struct roast_str printable);

#endif
