/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch.c - batches of the plugin on Dask's scheduler, into a run.
 *
 * Each scheduler has its own reader, because it numbers its own workers. One lock
 * serialises batches from several threads. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "collect/dask_batch_reader.h"
#include "roast/scheduler.h"

struct scheduler {
    struct scheduler *next;
    struct roast_dask_reader *reader;       /* owned */
    struct roast_dask_reader_state counted; /* losses already counted in the run */
    char name[];
};

struct roast_dask_batches {
    pthread_mutex_t lock;
    roast_run *run;               /* borrowed */
    struct scheduler *schedulers; /* owned */
};

/* Context of the sink. */
struct receiver {
    roast_run *run;
    roast_error err; /* of the run */
};

static int add_sample(void *context, const roast_sample *sample)
{
    struct receiver *to = context;
    return roast_run_add_sample(to->run, sample, &to->err);
}

static int add_member(void *context, const struct roast_member *member)
{
    struct receiver *to = context;
    return roast_run_add_member(to->run, member, &to->err);
}

static int add_departure(void *context, const struct roast_departure *departure)
{
    struct receiver *to = context;
    return roast_run_member_left(to->run, departure, &to->err);
}

static int add_task(void *context, const struct roast_task *task)
{
    struct receiver *to = context;
    return roast_run_add_task(to->run, task, &to->err);
}

static int add_frames(void *context, struct roast_str frames, struct roast_str worker,
                      uint32_t key_hash)
{
    struct receiver *to = context;
    return roast_run_add_task_frames(to->run, frames, worker, key_hash, NULL, &to->err);
}

static int set_offset(void *context, struct roast_str host, int64_t offset_ns)
{
    struct receiver *to = context;
    return roast_run_set_offset(to->run, host, offset_ns, &to->err);
}

static uint64_t dropped(const struct roast_dask_reader_state *state)
{
    return state->dropped_samples + state->dropped_tasks + state->dropped_frames;
}

static void count_losses(struct scheduler *scheduler, roast_run *run)
{
    struct roast_dask_reader_state now = roast__dask_reader_state(scheduler->reader);
    struct roast_dask_reader_state *counted = &scheduler->counted;

    if (dropped(&now) > dropped(counted))
        roast_run_lose(run, ROAST_RUN_LOSS_scheduler_dropped,
                       dropped(&now) - dropped(counted));
    if (now.unread > counted->unread)
        roast_run_lose(run, ROAST_RUN_LOSS_scheduler_unread,
                       now.unread - counted->unread);
    *counted = now;
}

/* Finds or makes; NULL when out of memory. */
static struct scheduler *scheduler_of(roast_dask_batches *batches, const char *name)
{
    size_t size = strlen(name) + 1;
    struct scheduler *scheduler = batches->schedulers;

    while (scheduler && strcmp(scheduler->name, name) != 0)
        scheduler = scheduler->next;
    if (scheduler)
        return scheduler;
    scheduler = roast__alloc(sizeof(*scheduler) + size);
    if (!scheduler || roast__dask_reader_new(&scheduler->reader, NULL) < 0) {
        roast__free(scheduler);
        return NULL;
    }
    memcpy(scheduler->name, name, size);
    scheduler->next = batches->schedulers;
    batches->schedulers = scheduler;
    return scheduler;
}

static int read_batch(roast_dask_batches *batches, const struct roast_dask_batch *batch,
                      roast_error *err)
{
    struct scheduler *scheduler = scheduler_of(batches, batch->scheduler);
    struct receiver to = {.run = batches->run};
    const struct roast_dask_sink sink = {
        .context = &to,
        .sample = add_sample,
        .joined = add_member,
        .left = add_departure,
        .task = add_task,
        .frames = add_frames,
        .offset = set_offset,
    };

    if (!scheduler)
        return roast_error_set(err, ROAST_NO_MEMORY, "reader of a scheduler's batches");
    roast__dask_reader_set_offset(scheduler->reader, batch->offset_ns);
    int status = roast__dask_reader_read(scheduler->reader, batch->bytes, &sink, err);
    if (status < 0 && err && to.err.code != 0)
        *err = to.err; /* the message of the run is more precise */
    count_losses(scheduler, batches->run);
    return status;
}

int roast_dask_batches_add(roast_dask_batches *batches,
                           const struct roast_dask_batch *batch, roast_error *err)
{
    (void)pthread_mutex_lock(&batches->lock);
    int status = read_batch(batches, batch, err);
    (void)pthread_mutex_unlock(&batches->lock);
    return status;
}

int roast_dask_batches_new(roast_dask_batches **out, roast_run *run, roast_error *err)
{
    roast_dask_batches *batches = roast__alloc(sizeof(*batches));

    if (!batches)
        return roast_error_set(err, ROAST_NO_MEMORY, "batches of schedulers");
    (void)pthread_mutex_init(&batches->lock, NULL);
    batches->run = run;
    *out = batches;
    return ROAST_OK;
}

void roast_dask_batches_free(roast_dask_batches *batches)
{
    if (!batches)
        return;
    while (batches->schedulers) {
        struct scheduler *scheduler = batches->schedulers;
        batches->schedulers = scheduler->next;
        roast__dask_reader_free(scheduler->reader);
        roast__free(scheduler);
    }
    (void)pthread_mutex_destroy(&batches->lock);
    roast__free(batches);
}
