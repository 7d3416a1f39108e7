/* SPDX-License-Identifier: BSD-3-Clause */
/* host_source.c - what the control group and the network namespace of this process have
 * counted during a run: throttling, kills for memory, pressure, bytes.
 *
 * All are counters of others, too: of every process of the group, or of the namespace. */
#include "base/mem.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/network.h"
#include "probe/linux/pressure.h"
#include "roast/collect.h"

enum counter {
    CPU,
    THROTTLED,
    KILLS,
    PRESSURE, /* and one for each further kind */
    RECEIVED = (int)PRESSURE + (int)ROAST_PRESSURE_COUNT,
    SENT,
    COUNTERS
};

struct reading {
    bool known[COUNTERS];
    uint64_t value[COUNTERS];
};

struct host {
    roast_run *run; /* borrowed */
    struct roast_cgroup group;
    struct roast_procfile cpu, throttle, kills, network;
    struct roast_pressure pressure[ROAST_PRESSURE_COUNT];
    struct reading before;
};

static const struct {
    enum roast_fact fact;
    double per;
} facts[COUNTERS] = {
    [CPU] = {ROAST_FACT_cgroup_cpu_seconds, 1e9},
    [THROTTLED] = {ROAST_FACT_throttled_seconds, 1e9},
    [KILLS] = {ROAST_FACT_oom_kills, 1},
    [PRESSURE + ROAST_PRESSURE_CPU] = {ROAST_FACT_cpu_pressure_seconds, 1e9},
    [PRESSURE + ROAST_PRESSURE_MEMORY] = {ROAST_FACT_memory_pressure_seconds, 1e9},
    [PRESSURE + ROAST_PRESSURE_IO] = {ROAST_FACT_io_pressure_seconds, 1e9},
    [RECEIVED] = {ROAST_FACT_network_received_bytes, 1},
    [SENT] = {ROAST_FACT_network_sent_bytes, 1},
};

static void read_counters(struct host *host, struct reading *now)
{
    struct roast_throttle throttle = {0, 0};
    struct roast_network network = {0, 0};

    now->known[CPU] =
        roast__cgroup_cpu_read(&host->cpu, &host->group, &now->value[CPU]);
    now->known[THROTTLED] =
        roast__throttle_read(&host->throttle, &host->group, &throttle);
    now->value[THROTTLED] = throttle.throttled_ns;
    now->known[KILLS] =
        roast__cgroup_oom_kills_read(&host->kills, &host->group, &now->value[KILLS]);
    for (int i = 0; i < ROAST_PRESSURE_COUNT; i++)
        now->known[PRESSURE + i] =
            roast__pressure_read(&host->pressure[i], &now->value[PRESSURE + i]);
    now->known[RECEIVED] = now->known[SENT] =
        roast__network_read(&host->network, &network);
    now->value[RECEIVED] = network.received_bytes;
    now->value[SENT] = network.sent_bytes;
}

static int poll_host(void *state, roast_error *err)
{
    struct host *host = state;
    const struct reading *before = &host->before;
    struct reading now = {0};
    (void)err;

    read_counters(host, &now);
    for (int i = 0; i < COUNTERS; i++) {
        double known = -1;
        /* an interface that was removed takes its bytes along */
        if (!now.known[i] || !before->known[i] || now.value[i] < before->value[i])
            continue;
        double value = (double)(now.value[i] - before->value[i]) / facts[i].per;
        (void)roast_run_fact(host->run, facts[i].fact, &known);
        if (value != known) /* the live file gets what has changed */
            roast_run_set_fact(host->run, facts[i].fact, value);
    }
    return ROAST_OK;
}

static void close_host(void *state)
{
    struct host *host = state;

    roast__procfile_close(&host->cpu);
    roast__procfile_close(&host->throttle);
    roast__procfile_close(&host->kills);
    roast__procfile_close(&host->network);
    for (int i = 0; i < ROAST_PRESSURE_COUNT; i++)
        roast__procfile_close(&host->pressure[i].file);
    roast__free(host);
}

static int open_host(void **state, roast_run *run, const char *place, roast_error *err)
{
    struct host *host = roast__alloc(sizeof(*host));

    if (!host)
        return roast_error_set(err, ROAST_NO_MEMORY, "host source");
    host->run = run;
    host->network.root = place;
    (void)roast__cgroup_find(&host->group, place, NULL);
    for (int i = 0; i < ROAST_PRESSURE_COUNT; i++)
        roast__pressure_find(&host->pressure[i], (enum roast_pressure_kind)i,
                             &host->group, place);
    read_counters(host, &host->before);
    *state = host;
    return ROAST_OK;
}

const struct roast_source roast_host_source = {open_host, poll_host, close_host};
