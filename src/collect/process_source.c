/* SPDX-License-Identifier: BSD-3-Clause */
/* process_source.c - memory, CPU and storage of this process and its descendants, into a
 * run.
 *
 * The kernel adds what a child has moved to the counters of the parent that waits for it.
 * Its own series has those bytes already, so they are taken off the counters of the
 * parent. A child may be waited for after the counters of its parent were read and before
 * its own are: then its bytes arrive in the next poll. A process that is not waited for
 * adds nothing to its parent, so bytes are not looked for after that. */
#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "roast/collect.h"
#include "roast/cpu_meter.h"
#include "roast/process_tree.h"

enum { READ, WRITTEN, KINDS };

struct process {
    struct roast_process_use use; /* of this poll */
    bool is_there;                /* in this poll */
    bool io_known;                /* in its last sample */
    uint64_t io[KINDS];           /* as the kernel counts it */
    uint64_t grown[KINDS];        /* that much since its first sample */
    uint64_t twice[KINDS];        /* of that, in the series of children, too */
    uint64_t due[KINDS];          /* of children that ended since the last poll */
    uint64_t late[KINDS];         /* of those before them, not found in `io` yet */
};

struct processes {
    roast_run *run; /* borrowed */
    roast_process_tree *tree;
    roast_cpu_meter *meter;
    struct process *items; /* owned; parents before their children */
    size_t count;
    size_t cap;
    int64_t time_ns; /* realtime clock of the current poll */
};

/* Trees are small, so linear search is enough. NULL when out of memory. */
static struct process *find_or_add(struct processes *processes,
                                   const struct roast_process_use *use)
{
    for (size_t i = 0; i < processes->count; i++) {
        struct process *item = &processes->items[i];
        if (item->use.pid == use->pid && item->use.started_ticks == use->started_ticks)
            return item;
    }
    struct process *items = roast__array_room(processes->items, &processes->cap,
                                              processes->count, sizeof(*items));
    if (!items)
        return NULL;
    processes->items = items;
    items[processes->count] = (struct process){.is_there = false};
    return &items[processes->count++];
}

static void keep_use(void *context, const struct roast_process_use *use)
{
    struct processes *processes = context;
    struct process *item = find_or_add(processes, use);

    if (item) {
        item->use = *use;
        item->is_there = true;
    }
    if (!item || roast_cpu_meter_use(processes->meter, use, NULL) < 0)
        roast_run_add_fact(processes->run, ROAST_FACT_monitor_errors, 1);
}

/* What the series of a process have is due at its parent, which may have ended, too. */
static void charge_parent(struct processes *processes, const struct process *ended)
{
    struct process *parent = processes->items;

    while (parent < ended && parent->use.pid != ended->use.parent_pid)
        parent++;
    for (int kind = 0; parent < ended && kind < KINDS; kind++)
        parent->due[kind] += ended->grown[kind] + ended->due[kind];
}

static void remove_ended(struct processes *processes)
{
    size_t kept = 0;

    for (size_t i = processes->count; i-- > 0;) /* children first */
        if (!processes->items[i].is_there)
            charge_parent(processes, &processes->items[i]);
    for (size_t i = 0; i < processes->count; i++)
        if (processes->items[i].is_there)
            processes->items[kept++] = processes->items[i];
    processes->count = kept;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Takes the bytes of children off those that a process has moved. */
static void correct_io(struct process *item)
{
    uint64_t *const now[KINDS] = {&item->use.read_bytes, &item->use.write_bytes};

    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t more = item->io_known && *now[kind] > item->io[kind]
                            ? *now[kind] - item->io[kind]
                            : 0;
        uint64_t wanted = item->due[kind] + item->late[kind];
        uint64_t found = least(wanted, more);
        item->late[kind] = least(wanted - found, item->due[kind]);
        item->due[kind] = 0;
        item->grown[kind] += more;
        item->twice[kind] += found;
        item->io[kind] = *now[kind];
        *now[kind] -= least(*now[kind], item->twice[kind]);
    }
    item->io_known = true;
}

/* All processes of a poll get one time, so that they can be added up. The memory of a
 * zombie is ignored; its CPU time counts. */
static void add_use(struct processes *processes, struct process *item)
{
    if (item->use.ended)
        return;
    if (item->use.io_known)
        correct_io(item);
    else
        item->io_known = false;
    item->use.time_ns = processes->time_ns;
    if (roast_run_add_use(processes->run, &item->use, NULL) < 0)
        roast_run_add_fact(processes->run, ROAST_FACT_monitor_errors, 1);
}

static int poll_processes(void *state, roast_error *err)
{
    struct processes *processes = state;
    const struct roast_use_sink sink = {keep_use, processes};
    double own_s = 0;
    double children_s = 0;

    processes->time_ns = roast__clock_epoch_ns();
    for (size_t i = 0; i < processes->count; i++)
        processes->items[i].is_there = false;
    roast_cpu_meter_round(processes->meter);
    int status = roast_process_tree_sample(processes->tree, &sink, err);
    if (status < 0)
        return status;
    remove_ended(processes);
    for (size_t i = 0; i < processes->count; i++)
        add_use(processes, &processes->items[i]);
    roast_cpu_meter_read(processes->meter, &own_s, &children_s);
    roast_run_set_fact(processes->run, ROAST_FACT_own_cpu_seconds, own_s);
    roast_run_set_fact(processes->run, ROAST_FACT_children_cpu_seconds, children_s);
    return ROAST_OK;
}

static void close_processes(void *state)
{
    struct processes *processes = state;

    roast_process_tree_free(processes->tree);
    roast_cpu_meter_free(processes->meter);
    roast__free(processes->items);
    roast__free(processes);
}

static int open_processes(void **state, roast_run *run, const char *place,
                          roast_error *err)
{
    struct processes *processes = roast__alloc(sizeof(*processes));

    if (!processes)
        return roast_error_set(err, ROAST_NO_MEMORY, "process source");
    processes->run = run;
    int status = roast_cpu_meter_new(&processes->meter, err);
    if (status == ROAST_OK)
        status = roast_process_tree_new(&processes->tree, place, 0, err);
    if (status == ROAST_OK)
        *state = processes;
    else
        close_processes(processes);
    return status;
}

const struct roast_source roast_process_source = {open_processes, poll_processes,
                                                  close_processes};
