/* SPDX-License-Identifier: BSD-3-Clause */
/* process_source.c - memory and CPU of this process and its descendants, into a run. */
#include "base/clock.h"
#include "base/mem.h"
#include "roast/collect.h"
#include "roast/cpu_meter.h"
#include "roast/process_tree.h"

struct processes {
    roast_run *run; /* borrowed */
    roast_process_tree *tree;
    roast_cpu_meter *meter;
    int64_t time_ns; /* realtime clock of the current poll */
};

/* All processes of a poll get one time, so that they can be added up. The memory of a
 * zombie is ignored; its CPU time counts. */
static void add_use(void *context, const struct roast_process_use *seen)
{
    struct processes *processes = context;
    struct roast_process_use use = *seen;

    use.time_ns = processes->time_ns;
    if ((!use.ended && roast_run_add_use(processes->run, &use, NULL) < 0) ||
        roast_cpu_meter_use(processes->meter, &use, NULL) < 0)
        roast_run_add_fact(processes->run, ROAST_FACT_monitor_errors, 1);
}

static int poll_processes(void *state, roast_error *err)
{
    struct processes *processes = state;
    const struct roast_use_sink sink = {add_use, processes};
    double own_s = 0;
    double children_s = 0;

    processes->time_ns = roast__clock_epoch_ns();
    roast_cpu_meter_round(processes->meter);
    int status = roast_process_tree_sample(processes->tree, &sink, err);
    if (status < 0)
        return status;
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
