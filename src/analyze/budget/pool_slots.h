/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_slots.h - the slots of an executor's pool, for runs without a scheduler.
 *
 * An executor offers a number of threads, one process each. A process has a slot from
 * its first to its last attempt; other processes may have it before and after. Unused
 * slots count as offered too. */
#ifndef ROAST_ANALYZE_BUDGET_POOL_SLOTS_H
#define ROAST_ANALYZE_BUDGET_POOL_SLOTS_H

#include "analyze/budget/schedule.h"

/* A pool of one machine is not larger; the limits bound the memory. */
enum { ROAST_MAX_POOL_SLOTS = 4096, ROAST_MAX_POOL_SHIFTS = 1 << 16 };

/* Zeroed = empty and valid; everything is owned. */
struct roast_pool_slots {
    uint32_t count;
    uint32_t *of_process;  /* the slot of each process that ran attempts */
    uint32_t *first_shift; /* per slot + 1: its shifts are consecutive, by time */
    int64_t *busy_ns;      /* per slot: end of its latest attempt so far */
    int64_t *task_busy_ns; /* the same for tasks, which run at other times */
};

/* Makes the shifts; none if nothing was offered, or more than the limits. False when out
 * of memory. */
bool roast__pool_slots_find(struct roast_pool_slots *slots,
                            struct roast_schedule *schedule,
                            const struct roast_summary_context *ctx);
void roast__pool_slots_release(struct roast_pool_slots *slots);

/* The shift of an attempt in [times[0], times[1]). Call it in the order of start times:
 * threads of one process have a slot each. */
int64_t roast__pool_slot_of_row(struct roast_pool_slots *slots,
                                struct roast_schedule *schedule,
                                const struct roast_run *run, size_t row,
                                const int64_t times[2]);

/* The shift of a task of an unknown process: a free slot. Call it in the order of start
 * times; tasks do not overlap with attempts. -1: nothing was offered at that time. */
int64_t roast__pool_slot_of_task(struct roast_pool_slots *slots,
                                 const struct roast_schedule *schedule,
                                 const struct roast_run *run, const int64_t times[2]);

#endif
