/* SPDX-License-Identifier: BSD-3-Clause */
/* page_help.h - what every page must keep to. */
#ifndef ROAST_TESTS_REPORT_PAGE_HELP_H
#define ROAST_TESTS_REPORT_PAGE_HELP_H

#include "report_help.h"

/* Fails when a line of the text is longer than the page, ends with a blank, or holds a
 * byte that a terminal acts on. */
static inline void check_fits_a_terminal(struct roast_str text)
{
    while (text.size_bytes > 0) {
        const char *end = memchr(text.data, '\n', text.size_bytes);
        assert_non_null(end);
        struct roast_str line = {text.data, (size_t)(end - text.data)};
        struct roast_glyphs glyphs = roast__glyphs(line);
        size_t columns = 0;
        while (roast__glyphs_next(&glyphs)) {
            columns += glyphs.columns;
            /* What is shown is what was there: nothing was left to replace. */
            assert_true(glyphs.shown.data[0] == glyphs.rest.data[-1] ||
                        glyphs.shown.size_bytes > 1);
        }
        if (columns > ROAST_PAGE_COLUMNS)
            fail_msg("%zu columns: %.*s", columns, (int)line.size_bytes, line.data);
        assert_true(line.size_bytes == 0 || end[-1] != ' ');
        text.data = end + 1;
        text.size_bytes -= line.size_bytes + 1;
    }
}

static inline void check_page_fits(const struct roast_page *page)
{
    assert_int_equal(strlen(page->text), page->size_bytes);
    check_fits_a_terminal(str_from(page->text, page->size_bytes));
}

#endif
