/* SPDX-License-Identifier: BSD-3-Clause */
/* spool_source.c - frames of a spool, into a run. */
#include "base/mem.h"
#include "roast/collect.h"

struct spool_source {
    roast_run *run; /* borrowed */
    roast_spool *spool;
};

static int add_frames(void *context, struct roast_str frames)
{
    return roast_run_add_frames(context, frames, ROAST_FROM_WORKERS, NULL, NULL);
}

static int poll_spool(void *state, roast_error *err)
{
    struct spool_source *source = state;
    const struct roast_frames_sink sink = {add_frames, source->run};

    return roast_spool_read(source->spool, &sink, err);
}

/* Bytes that were cut or could not be read are lost with the spool. */
static void close_spool(void *state)
{
    struct spool_source *source = state;
    struct roast_spool_state left = roast_spool_state(source->spool);

    roast_run_lose(source->run, ROAST_RUN_LOSS_spool_unreadable, left.unreadable);
    roast_run_lose(source->run, ROAST_RUN_LOSS_frames_damaged, left.waiting_files);
    roast_spool_close(source->spool, true);
    roast__free(source);
}

static int open_spool(void **state, roast_run *run, const char *place, roast_error *err)
{
    struct spool_source *source = roast__alloc(sizeof(*source));

    if (!source)
        return roast_error_set(err, ROAST_NO_MEMORY, "spool source");
    source->run = run;
    int status = roast_spool_open(&source->spool, place, err);
    if (status == ROAST_OK)
        *state = source;
    else
        roast__free(source);
    return status;
}

const struct roast_source roast_spool_source = {open_spool, poll_spool, close_spool};
