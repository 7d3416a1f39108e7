/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c - measurement directories as runs: what ingest tells, put into a store.
 *
 * Frames come before anything else is known, the begin of the block too, so a run starts
 * at 0 and is told when it began at the end. Records are the user's: they are taken
 * whatever run they are of. */
#include "roast/import.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "collect/measurement.h"
#include "file/runfile.h"
#include "run/run.h"

static const char *const run_file = "/" ROAST_RUN_NAME;

/* A run that is being filled. */
struct filling {
    roast_run *run; /* owned */
    uint64_t lost;
};

/* ---- the sink -------------------------------------------------------------------- */

static int take_frames(void *context, struct roast_str frames, roast_error *err)
{
    struct filling *filling = context;
    struct roast_tally tally;
    int status =
        roast_run_add_frames(filling->run, frames, ROAST_FROM_USER, &tally, err);

    if (status >= 0 && tally.repeated > 0)
        filling->lost++; /* two records that say they are the same */
    return status;
}

static int restart(void *context, roast_error *err)
{
    struct filling *filling = context;

    roast_run_free(filling->run);
    filling->lost = 0;
    return roast_run_new(&filling->run, 0, 0, err);
}

/* Nobody else knows the run yet, and nothing in it refers to its start. */
static int take_span(void *context, int64_t start_ns, int64_t end_ns, roast_error *err)
{
    struct filling *filling = context;

    (void)err;
    roast__run_lock(filling->run);
    filling->run->start_ns = start_ns;
    filling->run->end_ns = end_ns;
    roast__run_unlock(filling->run);
    return ROAST_OK;
}

static int take_fact(void *context, const char *name, double value, roast_error *err)
{
    struct filling *filling = context;

    (void)err;
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        if (strcmp(name, roast_fact_name((enum roast_fact)i)) == 0)
            roast_run_set_fact(filling->run, (enum roast_fact)i, value);
    }
    return ROAST_OK;
}

static int take_sample(void *context, const roast_sample *sample, roast_error *err)
{
    struct filling *filling = context;

    return roast_run_add_sample(filling->run, sample, err);
}

static int take_count(void *context, int64_t time_ns, uint64_t workers,
                      roast_error *err)
{
    struct filling *filling = context;

    return roast_run_add_count(filling->run, time_ns, workers, err);
}

/* The pid in "pid-<pid>" or "pid-<pid>-<started_ticks>", as roast_run_add_use() names
 * them; 0 for other names. */
static uint64_t pid_in(struct roast_str name)
{
    uint64_t pid = 0;

    if (name.size_bytes < 5 || name.size_bytes > 40 ||
        memcmp(name.data, "pid-", 4) != 0)
        return 0;
    for (size_t i = 4; i < name.size_bytes && name.data[i] != '-'; i++) {
        if (name.data[i] < '0' || name.data[i] > '9' || pid > UINT32_MAX)
            return 0;
        pid = pid * 10 + (uint64_t)(name.data[i] - '0');
    }
    return pid;
}

static int take_host(void *context, struct roast_str host, roast_error *err)
{
    struct filling *filling = context;
    roast_run *run = filling->run;
    int status = roast_run_set_host(run, host, err);

    roast__run_lock(run);
    for (size_t i = 0; i < run->samples.count; i++) {
        struct roast_worker_samples *worker = &run->samples.workers[i];
        worker->pid = pid_in(roast__strings_get(&run->strings, worker->name));
    }
    roast__run_unlock(run);
    return status;
}

static int take_note(void *context, const char *group, struct roast_str name,
                     struct roast_str text, roast_error *err)
{
    struct filling *filling = context;
    int status = ROAST_OK;

    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        enum roast_note_group known = (enum roast_note_group)i;
        if (strcmp(group, roast_note_group_name(known)) == 0)
            status = roast_run_set_note(filling->run, known, name, text, err);
    }
    if (status == ROAST_LIMIT) { /* a name that is no name */
        filling->lost++;
        status = ROAST_OK;
    }
    return status;
}

static int take_lost(void *context, uint64_t values, roast_error *err)
{
    struct filling *filling = context;

    (void)err;
    filling->lost += values;
    return ROAST_OK;
}

/* ---- a run that was saved beside -------------------------------------------------- */

/* The path of the run file in a directory, owned; NULL when out of memory. */
static char *run_file_of(const char *dir)
{
    size_t size = strlen(dir) + strlen(run_file) + 1;
    char *path = roast__realloc(NULL, size);

    if (path)
        (void)snprintf(path, size, "%s%s", dir, run_file);
    return path;
}

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int read_directory(roast_run **out, const char *dir, roast_error *err)
{
    struct filling filling = {NULL, 0};
    const struct roast_measurement_sink sink = {
        .context = &filling,
        .frames = take_frames,
        .restart = restart,
        .span = take_span,
        .host = take_host,
        .fact = take_fact,
        .sample = take_sample,
        .count = take_count,
        .note = take_note,
        .lost = take_lost,
    };
    int status = roast_run_new(&filling.run, 0, 0, err);

    if (status >= 0)
        status = roast__measurement_read(dir, &sink, err);
    if (status >= 0) {
        roast_run_lose(filling.run, ROAST_RUN_LOSS_import_dropped, filling.lost);
        *out = filling.run;
        filling.run = NULL; /* moved to the caller */
    }
    roast_run_free(filling.run);
    return status;
}

int roast_import(roast_run **out, const char *dir, roast_error *err)
{
    char *path = run_file_of(dir);
    int status;

    *out = NULL;
    if (!path)
        status = roast_error_set(err, ROAST_NO_MEMORY, "importing %.100s", dir);
    else if (is_file(path)) /* what is damaged is left out, and counted as a loss */
        status = roast__runfile_load(out, path, err);
    else
        status = read_directory(out, dir, err);
    roast__free(path);
    return status;
}
