/* SPDX-License-Identifier: BSD-3-Clause */
/* client_source.c - memory of the client, which receives the outputs, into a run.
 *
 * The process tree has it too, but only where workers are sampled on this machine. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probe/chunk/process.h"
#include "probe/linux/usage.h"
#include "roast/collect.h"

struct client {
    roast_run *run; /* borrowed */
    struct roast_procfile statm;
    char name[32]; /* as the process tree names it */
};

static int poll_client(void *state, roast_error *err)
{
    struct client *client = state;
    roast_sample sample = {.worker = roast_str_of(client->name),
                           .time_ns = roast__clock_epoch_ns()};
    uint64_t rss_bytes;

    if (!roast__rss_read(&client->statm, &rss_bytes))
        return roast_error_set(err, ROAST_UNAVAILABLE, "memory of this process");
    roast_sample_set(&sample, ROAST_SERIES_client_memory, (double)rss_bytes);
    return roast_run_add_sample(client->run, &sample, err);
}

static void close_client(void *state)
{
    struct client *client = state;

    roast__procfile_close(&client->statm);
    roast__free(client);
}

static int open_client(void **state, roast_run *run, const char *place,
                       roast_error *err)
{
    struct client *client = roast__alloc(sizeof(*client));
    uint64_t rss_bytes;
    (void)place;

    if (!client)
        return roast_error_set(err, ROAST_NO_MEMORY, "client source");
    client->run = run;
    (void)snprintf(client->name, sizeof(client->name), "pid-%" PRIu64,
                   roast__process().pid);
    *state = client;
    if (roast__rss_read(&client->statm, &rss_bytes))
        return ROAST_OK;
    close_client(client);
    *state = NULL;
    return roast_error_set(err, ROAST_UNAVAILABLE, "memory of this process");
}

const struct roast_source roast_client_source = {open_client, poll_client,
                                                 close_client};
