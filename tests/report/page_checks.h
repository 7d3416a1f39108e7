/* SPDX-License-Identifier: BSD-3-Clause */
/* page_checks.h - makes pages and checks what all pages have in common: width, printable
 * text, and failing allocations. */
#ifndef ROAST_TESTS_REPORT_PAGE_CHECKS_H
#define ROAST_TESTS_REPORT_PAGE_CHECKS_H

#include "heap.h"
#include "metrics_by_hand.h"

/* Fails when a line is longer than the page, ends with a space, or has a control
 * character. */
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
            /* Nothing is left to replace. */
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

typedef int (*page_maker)(struct roast_page *, const struct roast_page_input *,
                          roast_error *);

static inline struct roast_page make_page(page_maker maker,
                                          const struct roast_page_input *shown)
{
    struct roast_page page;
    roast_error err = {0};

    if (maker(&page, shown, &err) != ROAST_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(page.text), page.size_bytes);
    return page;
}

/* Every allocation fails once, alone and with all that follow. */
static inline void check_memory_sweep(page_maker maker,
                                      const struct roast_page_input *shown)
{
    size_t live = test_heap.live_blocks;

    for (int from_then_on = 0; from_then_on <= 1; from_then_on++)
        for (size_t n = 1;; n++) {
            struct roast_page page;
            roast_error err = {0};
            test_heap_fail(n, from_then_on == 1);
            int status = maker(&page, shown, &err);
            bool failed = test_heap_failed();
            assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
            assert_true((page.text == NULL) == failed);
            roast_page_release(&page);
            assert_int_equal(test_heap.live_blocks, live);
            if (!failed)
                break;
        }
}

#endif
