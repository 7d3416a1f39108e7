/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_slots.h - the slots of an executor's pool, for runs without a scheduler.
 *
 * An executor offers so many threads, one process each. A process that ran attempts has
 * one of the slots from its first to its last; another may have it before and after.
 * Slots that no process took were offered all the same. */
#ifndef ROAST_ANALYZE_BUDGET_POOL_SLOTS_H
#define ROAST_ANALYZE_BUDGET_POOL_SLOTS_H

#include "analyze/budget/schedule.h"

/* Larger pools are not of one machine, and would cost too much memory. */
enum { ROAST_MAX_POOL_SLOTS = 4096, ROAST_MAX_POOL_SHIFTS = 1 << 16 };

/* Zeroed = empty and valid; everything is owned. */
struct roast_pool_slots {
    uint32_t count;
    uint32_t *of_process;  /* the slot of each process that ran attempts */
    uint32_t *first_shift; /* per slot + 1: its shifts lie together, by time */
    int64_t *busy_ns;      /* per slot: until when the attempts so far have it */
    int64_t *task_busy_ns; /* the same of tasks, which are at other times */
};

/* Makes the shifts; none where nothing was offered, or more than there can be. False
 * when out of memory. */
bool roast__pool_slots_find(struct roast_pool_slots *slots,
                            struct roast_schedule *schedule,
                            const struct roast_summary_context *ctx);
void roast__pool_slots_release(struct roast_pool_slots *slots);

/* The shift of an attempt, which takes [times[0], times[1]). Rows come in the order of
 * their start: threads of one process have a slot each. */
int64_t roast__pool_slot_of_row(struct roast_pool_slots *slots,
                                struct roast_schedule *schedule,
                                const struct roast_run *run, size_t row,
                                const int64_t times[2]);

/* The shift of a task, whose process is not known: a free slot. Tasks come in the
 * order of their start, and not while attempts run. -1: nothing was offered then. */
int64_t roast__pool_slot_of_task(struct roast_pool_slots *slots,
                                 const struct roast_schedule *schedule,
                                 const struct roast_run *run, const int64_t times[2]);

#endif
