/* SPDX-License-Identifier: BSD-3-Clause */
/* make_help.h - pages made with a heap that gives, and with one that does not. */
#ifndef ROAST_TESTS_REPORT_MAKE_HELP_H
#define ROAST_TESTS_REPORT_MAKE_HELP_H

#include "hand_tables.h"
#include "heap.h"

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
