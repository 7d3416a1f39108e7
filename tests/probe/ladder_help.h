/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_help.h - an attempt with a ladder, and the ladder of its end frame. */
#ifndef ROAST_TESTS_PROBE_LADDER_HELP_H
#define ROAST_TESTS_PROBE_LADDER_HELP_H

#include "attempt_help.h"
#include "probe/chunk/thread.h"

static inline enum roast_ladder_item current_slice(const roast_thread *thread)
{
    return roast_ladder_active(thread) ? thread->attempt.ladder.now
                                       : ROAST_ITEM_unnamed;
}

static const struct roast_attempt_item armed_item = {
    .dataset = {"TTbar", 5},
    .file = {"f.root", 6},
    .has_entries = true,
    .entry_start = 100,
    .entry_stop = 350,
};

static inline uint64_t hook_bit(enum roast_hook hook)
{
    return UINT64_C(1) << hook;
}

static inline roast_thread *begin_armed(uint64_t hooks_missing)
{
    roast_thread *thread = begin_attempt(&armed_item);

    assert_false(roast_ladder_active(thread));
    roast_ladder_arm(thread, hooks_missing);
    assert_true(roast_ladder_active(thread));
    return thread;
}

static inline struct roast_ladder ladder_in(const roast_record *end)
{
    struct roast_ladder ladder;

    assert_int_equal(roast_ladder_read(&ladder, text(end, ROAST_FIELD_ladder), NULL),
                     ROAST_OK);
    return ladder;
}

static inline uint64_t value_of(const struct roast_ladder *ladder,
                                enum roast_ladder_item item)
{
    if (!roast_ladder_has(ladder, item))
        fail_msg("no %s", roast_ladder_info(item)->name);
    return ladder->values[item];
}

static inline uint64_t sum_of_slices(const struct roast_ladder *ladder)
{
    uint64_t sum = 0;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        sum += ladder->values[i];
    return sum;
}

/* The ladder of an end frame, which adds up to the attempt. */
static inline struct roast_ladder whole_ladder(const roast_record *end)
{
    struct roast_ladder ladder = ladder_in(end);

    assert_true(sum_of_slices(&ladder) == number(end, ROAST_FIELD_task_ns));
    return ladder;
}

static inline struct roast_ladder end_armed(roast_thread *thread)
{
    struct sent_frames sent = end_attempt(thread, ended_ok);

    assert_false(roast_ladder_active(thread));
    return whole_ladder(&sent.records[sent.count - 1]);
}

#endif
