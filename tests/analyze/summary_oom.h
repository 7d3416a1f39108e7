/* SPDX-License-Identifier: BSD-3-Clause */
/* summary_oom.h - a summary made with a heap that does not always give. */
#ifndef ROAST_TESTS_ANALYZE_SUMMARY_OOM_H
#define ROAST_TESTS_ANALYZE_SUMMARY_OOM_H

#include "heap.h"
#include "roast/analyze.h"
#include "support.h"

static inline void sweep_summaries(roast_run *run, bool from_then_on)
{
    size_t before = test_heap.live_blocks;
    int status = ROAST_NO_MEMORY;

    for (size_t n = 1; status != ROAST_OK; n++) {
        roast_summary *summary = NULL;
        test_heap_fail(n, from_then_on);
        status = roast_summarize(&summary, run, NULL);
        if (test_heap_failed())
            assert_int_equal(status, ROAST_NO_MEMORY);
        test_heap_fail(0, false);
        roast_summary_free(summary);
        assert_int_equal(test_heap.live_blocks, before);
    }
}

/* Every allocation fails once, alone and with all that follow. */
static inline void check_summary_sweep(roast_run *run)
{
    sweep_summaries(run, false);
    sweep_summaries(run, true);
}

#endif
