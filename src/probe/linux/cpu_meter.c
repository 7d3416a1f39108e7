/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_meter.c - CPU time of a process tree between two moments.
 *
 *     children = CPU that the kernel counted of children that ended since the start
 *              + CPU that living ones have used since their first sample
 *              - CPU that ended ones had used before the start
 *
 * A process that began after the start is counted from 0; one that was alive at the start
 * from what it had used by then. Parents are read before their children, this process
 * first: a process that is waited for during a round may be missing until the next one,
 * but is never counted twice.
 *
 * A process that was in no sample for FORGET_ROUNDS rounds has ended, because the tree is
 * searched more often than that: it is only counted, so that the list does not grow with
 * the number of processes that a run starts.
 *
 * Not every process that ends is waited for by one of the tree: its parent ended first,
 * or ignores SIGCHLD. So the sum over all samples is a lower bound of the result. */
#include "roast/cpu_meter.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/mem.h"
#include "roast/process_tree.h"

enum { FORGET_ROUNDS = 32 };

struct seen {
    uint64_t pid;
    uint64_t started_ticks;
    uint64_t first_ns; /* CPU at the start of the meter; 0 if it began later */
    uint64_t last_ns;
    uint64_t first_own_ns; /* the same without children that it waited for */
    uint64_t last_own_ns;
    unsigned round; /* of the last sample with it */
};

struct roast_cpu_meter {
    struct seen *processes; /* owned */
    size_t count;
    size_t cap;
    uint64_t forgotten; /* processes that are not in the list any more */
    uint64_t forgotten_first_ns;
    double forgotten_own_s;
    unsigned round;
    bool start_missed; /* a process of the first round could not be kept */
    uint64_t own_ns;
    uint64_t children_ns;
    uint64_t children_now_ns; /* at the begin of the round */
    uint64_t own_pid;
};

int roast_cpu_meter_new(roast_cpu_meter **out, roast_error *err)
{
    struct roast_cpu_meter *meter = roast__alloc(sizeof(*meter));

    if (!meter)
        return roast_error_set(err, ROAST_NO_MEMORY, "CPU meter");
    roast_cpu_used(&meter->own_ns, &meter->children_ns);
    meter->children_now_ns = meter->children_ns;
    meter->own_pid = (uint64_t)getpid();
    *out = meter;
    return ROAST_OK;
}

void roast_cpu_meter_free(roast_cpu_meter *meter)
{
    if (meter)
        roast__free(meter->processes);
    roast__free(meter);
}

static double seconds_since(uint64_t before_ns, uint64_t now_ns)
{
    return now_ns > before_ns ? (double)(now_ns - before_ns) / 1e9 : 0;
}

static void forget_ended(roast_cpu_meter *meter)
{
    size_t kept = 0;

    for (size_t i = 0; i < meter->count; i++) {
        struct seen seen = meter->processes[i];
        if (meter->round - seen.round <= FORGET_ROUNDS) {
            meter->processes[kept++] = seen;
            continue;
        }
        meter->forgotten++;
        meter->forgotten_first_ns += seen.first_ns;
        meter->forgotten_own_s += seconds_since(seen.first_own_ns, seen.last_own_ns);
    }
    meter->count = kept;
}

void roast_cpu_meter_round(roast_cpu_meter *meter)
{
    uint64_t own_ns;

    meter->round++;
    forget_ended(meter);
    roast_cpu_used(&own_ns, &meter->children_now_ns);
}

/* Trees are small, so linear search is enough. NULL when out of memory. */
static struct seen *find_or_add(roast_cpu_meter *meter,
                                const struct roast_process_use *use)
{
    for (size_t i = 0; i < meter->count; i++) {
        struct seen *seen = &meter->processes[i];
        if (seen->pid == use->pid && seen->started_ticks == use->started_ticks)
            return seen;
    }
    if (meter->count == meter->cap) {
        size_t cap = meter->cap ? 2 * meter->cap : 16;
        struct seen *more = roast__realloc(meter->processes, cap * sizeof(*more));
        if (!more)
            return NULL;
        meter->processes = more;
        meter->cap = cap;
    }
    struct seen *seen = &meter->processes[meter->count++];
    bool was_there = meter->round <= 1 || meter->start_missed;
    *seen = (struct seen){.pid = use->pid, .started_ticks = use->started_ticks};
    seen->first_ns = was_there ? use->cpu_ns + use->reaped_cpu_ns : 0;
    seen->first_own_ns = was_there ? use->cpu_ns : 0;
    return seen;
}

int roast_cpu_meter_use(roast_cpu_meter *meter, const struct roast_process_use *use,
                        roast_error *err)
{
    if (use->pid == meter->own_pid)
        return ROAST_OK;
    struct seen *seen = find_or_add(meter, use);
    if (!seen) {
        meter->start_missed |= meter->round <= 1;
        return roast_error_set(err, ROAST_NO_MEMORY, "CPU meter");
    }
    seen->last_ns = use->cpu_ns + use->reaped_cpu_ns;
    seen->last_own_ns = use->cpu_ns;
    seen->round = meter->round;
    return ROAST_OK;
}

void roast_cpu_meter_read(const roast_cpu_meter *meter, double *own_s,
                          double *children_s)
{
    double sum = seconds_since(meter->children_ns, meter->children_now_ns);
    double seen_s = meter->forgotten_own_s;
    uint64_t own_ns, unused_ns;

    roast_cpu_used(&own_ns, &unused_ns);
    *own_s = seconds_since(meter->own_ns, own_ns);
    sum -= (double)meter->forgotten_first_ns / 1e9;
    for (size_t i = 0; i < meter->count; i++) {
        const struct seen *seen = &meter->processes[i];
        seen_s += seconds_since(seen->first_own_ns, seen->last_own_ns);
        if (seen->round == meter->round)
            sum += seconds_since(seen->first_ns, seen->last_ns);
        else
            sum -= (double)seen->first_ns / 1e9;
    }
    *children_s = sum > seen_s ? sum : seen_s;
}

uint64_t roast_cpu_meter_processes(const roast_cpu_meter *meter)
{
    return meter->forgotten + meter->count;
}
