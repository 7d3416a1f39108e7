/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_slots.c - the slots of an executor's pool, for runs without a scheduler.
 *
 * Processes take slots in the order of their first attempt, the lowest free one first.
 * An attempt that starts while another one of its process runs (a pool of threads) takes
 * a free slot. If more attempts overlap than threads were offered, the slot that is free
 * first is shared: the budget cuts off what does not fit. */
#include "analyze/budget/pool_slots.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls.h"
#include "analyze/timeline.h"
#include "base/mem.h"

/* ---- shifts ---------------------------------------------------------------------- */

static size_t count_shifts_of_offers(const struct roast_run *run)
{
    uint64_t before = 0, count = 0;

    for (size_t i = 0; i < run->offer_count; i++) {
        uint64_t threads = run->offers[i].threads;
        count += threads > before ? threads - before : 0;
        before = threads;
    }
    return (size_t)count;
}

/* The first offer is valid from the start of the run. */
static int64_t begin_of(const struct roast_summary_context *ctx, size_t offer)
{
    if (offer == 0)
        return ctx->run->start_ns;
    return roast__time_clamp(ctx->run->offers[offer].time_ns, ctx->run->start_ns,
                             ctx->end_ns);
}

static bool find_shifts(struct roast_pool_slots *slots, struct roast_schedule *schedule,
                        const struct roast_summary_context *ctx)
{
    size_t count = count_shifts_of_offers(ctx->run);
    uint32_t *next = roast__alloc(slots->count * sizeof(next[0])); /* shift per slot */

    schedule->shifts = roast__alloc(count * sizeof(schedule->shifts[0]));
    slots->first_shift =
        roast__alloc((slots->count + 1) * sizeof(slots->first_shift[0]));
    bool done = next && schedule->shifts && slots->first_shift;
    if (done) {
        /* Count the shifts of each slot, then find the first shift of each. */
        const struct roast_run *run = ctx->run;
        uint64_t before = 0;
        for (size_t i = 0; i < run->offer_count; i++) {
            uint64_t threads = run->offers[i].threads;
            for (uint64_t slot = before; slot < threads; slot++)
                slots->first_shift[slot + 1]++;
            before = threads;
        }
        for (uint32_t slot = 0; slot < slots->count; slot++)
            slots->first_shift[slot + 1] += slots->first_shift[slot];
        memcpy(next, slots->first_shift, slots->count * sizeof(next[0]));
        before = 0;
        for (size_t i = 0; i < run->offer_count; i++) {
            uint64_t threads = run->offers[i].threads;
            int64_t time_ns = begin_of(ctx, i);
            for (uint64_t slot = threads; slot < before; slot++)
                schedule->shifts[next[slot] - 1].to_ns = time_ns;
            for (uint64_t slot = before; slot < threads; slot++)
                schedule->shifts[next[slot]++] = (struct roast_shift){
                    .from_ns = time_ns,
                    .to_ns = ctx->end_ns,
                    .threads = 1,
                    .session = -1,
                    .process = -1,
                };
            before = threads;
        }
        schedule->shift_count = count;
    }
    roast__free(next);
    return done;
}

/* ---- processes ------------------------------------------------------------------- */

/* A process from the first to the last of its attempts. */
struct lifetime {
    int64_t from_ns;
    int64_t to_ns;
    uint32_t process;
    bool any;
};

static int by_begin(const void *a, const void *b)
{
    const struct lifetime *left = a, *right = b;

    if (left->from_ns != right->from_ns)
        return left->from_ns < right->from_ns ? -1 : 1;
    return left->process < right->process ? -1 : left->process > right->process;
}

/* The lowest free slot, or the one that is free first. */
static uint32_t choose_slot(const int64_t *busy_ns, uint64_t count, int64_t from_ns)
{
    uint32_t earliest = 0;

    for (uint32_t slot = 0; slot < count; slot++) {
        if (busy_ns[slot] <= from_ns)
            return slot;
        if (busy_ns[slot] < busy_ns[earliest])
            earliest = slot;
    }
    return earliest;
}

static void clear_slots(struct roast_pool_slots *slots)
{
    for (uint32_t slot = 0; slot < slots->count; slot++)
        slots->busy_ns[slot] = slots->task_busy_ns[slot] = INT64_MIN;
}

static bool assign_processes(struct roast_pool_slots *slots,
                             const struct roast_run *run)
{
    size_t count = run->attempts.process_count;
    struct lifetime *lifetimes = roast__alloc(count * sizeof(lifetimes[0]));

    slots->of_process = roast__alloc(count * sizeof(slots->of_process[0]));
    slots->busy_ns = roast__alloc(slots->count * sizeof(slots->busy_ns[0]));
    slots->task_busy_ns = roast__alloc(slots->count * sizeof(slots->task_busy_ns[0]));
    bool done = lifetimes && slots->of_process && slots->busy_ns && slots->task_busy_ns;
    if (done) {
        for (uint32_t i = 0; i < run->attempts.process_count; i++)
            lifetimes[i].process = i;
        for (size_t row = 0; row < run->attempts.count; row++) {
            struct lifetime *own = &lifetimes[run->attempts.process[row]];
            int64_t start, stop;
            if (!roast__attempt_times(&run->attempts, row, &start, &stop))
                continue;
            own->from_ns = !own->any || start < own->from_ns ? start : own->from_ns;
            own->to_ns = !own->any || stop > own->to_ns ? stop : own->to_ns;
            own->any = true;
        }
        clear_slots(slots);
        if (count > 1)
            qsort(lifetimes, count, sizeof(lifetimes[0]), by_begin);
    }
    for (size_t i = 0; done && i < count; i++) {
        if (!lifetimes[i].any)
            continue;
        uint32_t slot = choose_slot(slots->busy_ns, slots->count, lifetimes[i].from_ns);
        slots->of_process[lifetimes[i].process] = slot;
        slots->busy_ns[slot] = lifetimes[i].to_ns;
    }
    if (done)
        clear_slots(slots); /* for the assignment of attempts */
    roast__free(lifetimes);
    return done;
}

/* ---- all ------------------------------------------------------------------------- */

bool roast__pool_slots_find(struct roast_pool_slots *slots,
                            struct roast_schedule *schedule,
                            const struct roast_summary_context *ctx)
{
    uint64_t most = 0;
    for (size_t i = 0; i < ctx->run->offer_count; i++)
        most = ctx->run->offers[i].threads > most ? ctx->run->offers[i].threads : most;

    if (most == 0 || most > ROAST_MAX_POOL_SLOTS ||
        count_shifts_of_offers(ctx->run) > ROAST_MAX_POOL_SHIFTS)
        return true;
    slots->count = (uint32_t)most;
    return find_shifts(slots, schedule, ctx) && assign_processes(slots, ctx->run);
}

void roast__pool_slots_release(struct roast_pool_slots *slots)
{
    roast__free(slots->of_process);
    roast__free(slots->first_shift);
    roast__free(slots->busy_ns);
    roast__free(slots->task_busy_ns);
    *slots = (struct roast_pool_slots){0};
}

/* The shift of a slot at a time: the last one that began before, or the first one. */
static int64_t shift_at(const struct roast_pool_slots *slots,
                        const struct roast_schedule *schedule, uint32_t slot,
                        int64_t time_ns)
{
    size_t first = slots->first_shift[slot];
    size_t begun = roast__count_until(&schedule->shifts[first].from_ns,
                                      sizeof(schedule->shifts[0]),
                                      slots->first_shift[slot + 1] - first, time_ns);

    return (int64_t)(begun > 0 ? first + begun - 1 : first);
}

int64_t roast__pool_slot_of_row(struct roast_pool_slots *slots,
                                struct roast_schedule *schedule,
                                const struct roast_run *run, size_t row,
                                const int64_t times[2])
{
    int32_t process = run->attempts.process[row];
    uint32_t slot = slots->of_process[process];
    /* The lowest slots are open, as many as are offered; all while none is offered. */
    uint64_t threads = roast__run_offer_at(run, times[0])->threads;
    uint32_t open = threads > 0 ? (uint32_t)threads : slots->count;

    if (slot >= open || slots->busy_ns[slot] > times[0])
        slot = choose_slot(slots->busy_ns, open, times[0]);
    if (times[1] > slots->busy_ns[slot])
        slots->busy_ns[slot] = times[1];
    int64_t shift = shift_at(slots, schedule, slot, times[0]);
    schedule->shifts[shift].process = process;
    return shift;
}

int64_t roast__pool_slot_of_task(struct roast_pool_slots *slots,
                                 const struct roast_schedule *schedule,
                                 const struct roast_run *run, const int64_t times[2])
{
    const struct roast_offer *offer = roast__run_offer_at(run, times[0]);

    if (!offer || offer->threads == 0)
        return -1;
    uint32_t slot = choose_slot(slots->task_busy_ns, offer->threads, times[0]);
    if (times[1] > slots->task_busy_ns[slot])
        slots->task_busy_ns[slot] = times[1];
    return shift_at(slots, schedule, slot, times[0]);
}
