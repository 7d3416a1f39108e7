/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print.h - all that a run holds as bytes: two runs with the same print are the same
 * run. Of the ids that it accepts nothing is in it: whoever reads a file back knows
 * already which frames were its own. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_H
#define ROAST_TESTS_FILE_RUN_PRINT_H

#include "run_print_bulk.h"
#include "run_print_scheduler.h"

/* Returns owned. */
static inline struct roast_buf print_run(roast_run *run)
{
    struct roast_buf out = {NULL, 0, 0, false};

    print_words(&out, run);
    print_moments(&out, run);
    print_samples(&out, run);
    print_tracking(&out, run);
    print_chunks(&out, run);
    print_scheduler(&out, run);
    assert_true(roast__buf_ok(&out));
    return out;
}

static inline bool has_print(roast_run *run, const struct roast_buf *print)
{
    struct roast_buf got = print_run(run);
    bool same = str_equal(buf_str(&got), buf_str(print));

    roast__buf_release(&got);
    return same;
}

static inline void assert_same_run(roast_run *a, roast_run *b)
{
    struct roast_buf print = print_run(a);

    assert_true(has_print(b, &print));
    roast__buf_release(&print);
}

#endif
