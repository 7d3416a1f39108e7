/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c - the run that a command was given: a file, or a folder that holds one.
 *
 * A folder with several runs means the newest one, which is said. What monitor("DIR")
 * writes is one folder further down: DIR/NAME/run.roast. A measurement directory that
 * has no run file, as roastcoffea 0.1.2 wrote them, is imported in memory. */
#include "source.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "roast/import.h"
#include "roast/live.h"
#include "walk.h"

#define RUN_NAME "run" ROAST_FILE_SUFFIX /* of a measurement directory */

static bool ends_with(const char *name, const char *end)
{
    size_t size = strlen(name);
    size_t end_size = strlen(end);

    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

bool is_run_name(const char *name)
{
    return ends_with(name, ROAST_FILE_SUFFIX) || ends_with(name, ROAST_LIVE_SUFFIX);
}

/* ---- folders ------------------------------------------------------------------ */

/* A run file of a folder. */
struct candidate {
    char *path; /* owned */
    struct timespec changed;
};

static bool is_file(const char *path, struct stat *found)
{
    return stat(path, found) == 0 && S_ISREG(found->st_mode);
}

/* A live file whose finished one is there, as NAME.roast or NAME/run.roast, is about to
 * be removed. */
static bool is_finished(const char *path)
{
    size_t size = strlen(path) - strlen(ROAST_LIVE_SUFFIX);
    struct stat found;

    if (!ends_with(path, ROAST_LIVE_SUFFIX))
        return false;
    char *file = join_path("", path);
    file[size + strlen(ROAST_FILE_SUFFIX)] = '\0';
    bool finished = is_file(file, &found);
    file[size] = '\0';
    char *inside = join_path(file, RUN_NAME);
    finished = finished || is_file(inside, &found);
    free(inside);
    free(file);
    return finished;
}

/* The run file that an entry of a folder is, or that is in it; owned. */
static char *run_path(const char *folder, const char *name)
{
    char *path = join_path(folder, name);

    if (is_run_name(name))
        return path;
    char *inside = join_path(path, RUN_NAME);
    free(path);
    return inside;
}

static bool is_newer(const struct candidate *a, const struct candidate *b)
{
    if (!b->path || a->changed.tv_sec != b->changed.tv_sec)
        return !b->path || a->changed.tv_sec > b->changed.tv_sec;
    if (a->changed.tv_nsec != b->changed.tv_nsec)
        return a->changed.tv_nsec > b->changed.tv_nsec;
    return strcmp(a->path, b->path) > 0;
}

/* The newest run file of a folder, NULL for none; *count gets how many there are. */
static char *newest_run(const char *folder, DIR *dir, size_t *count)
{
    struct candidate best = {NULL, {0, 0}};
    const struct dirent *entry;

    while ((entry = readdir(dir))) {
        struct candidate one;
        struct stat found;
        if (entry->d_name[0] == '.')
            continue;
        one.path = run_path(folder, entry->d_name);
        if (!is_file(one.path, &found) || is_finished(one.path)) {
            free(one.path);
            continue;
        }
        one.changed = found.st_mtim;
        ++*count;
        bool newer = is_newer(&one, &best);
        free(newer ? best.path : one.path);
        if (newer)
            best = one;
    }
    return best.path;
}

/* ---- opening ------------------------------------------------------------------ */

static int open_file(struct source *source)
{
    roast_error err = {0};

    if (roast_runfile_open(&source->file, source->path, &err) < 0)
        return fail_with(source->path, &err, NULL);
    roast_runfile_info(source->file, &source->info);
    return CODE_OK;
}

static bool is_measurement(const char *folder)
{
    char *path = join_path(folder, "metrics.json");
    struct stat found;
    bool there = stat(path, &found) == 0;

    free(path);
    return there;
}

static int import_folder(struct source *source, const char *folder)
{
    roast_error err = {0};

    if (!is_measurement(folder))
        return fail(CODE_UNREADABLE, folder,
                    "no run in this folder; roast ls lists those further down");
    source->path = join_path("", folder);
    if (roast_import(&source->imported, folder, &err) < 0)
        return fail_with(folder, &err, "is it a measurement directory?");
    return CODE_OK;
}

static int open_folder(struct source *source, const char *folder)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    if (!dir)
        return fail(CODE_UNREADABLE, folder, "cannot read this folder; may you?");
    source->path = newest_run(folder, dir, &count);
    (void)closedir(dir);
    if (!source->path)
        return import_folder(source, folder);
    if (count > 1)
        say(folder, "%zu runs, this is the newest: %s", count, source->path);
    return open_file(source);
}

int source_open(struct source *source, const char *path)
{
    struct stat found;

    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return open_folder(source, path);
    source->path = join_path("", path);
    return open_file(source);
}

int source_open_file(struct source *source, const char *path)
{
    int code = source_open(source, path);

    if (code == CODE_OK && !source->file)
        return fail(CODE_UNREADABLE, path,
                    "a measurement without a run file; make one with roast import");
    return code;
}

void source_close(struct source *source)
{
    roast_summary_free(source->summary);
    roast_run_free(source->imported);
    roast_runfile_close(source->file);
    free(source->path);
    *source = (struct source){0};
}

/* ---- what is in it ------------------------------------------------------------ */

/* What is damaged is known when it was read. */
static int read_well(struct source *source, int status, const roast_error *err)
{
    if (source->file)
        roast_runfile_info(source->file, &source->info);
    return status < 0 ? fail_with(source->path, err, NULL) : CODE_OK;
}

int source_run(struct source *source, bool whole, roast_run **run)
{
    roast_error err = {0};
    int status = ROAST_OK;

    *run = source->imported;
    if (source->file)
        status = roast_runfile_run(source->file, whole, run, &err);
    return read_well(source, status, &err);
}

int source_summary(struct source *source, const roast_summary **summary)
{
    roast_error err = {0};
    int status = ROAST_OK;

    if (source->file)
        status = roast_runfile_summary(source->file, summary, &err);
    else if (!source->summary)
        status = roast_summarize(&source->summary, source->imported, &err);
    if (!source->file)
        *summary = source->summary;
    return read_well(source, status, &err);
}

int source_columns(struct source *source, enum roast_columns_table table,
                   roast_columns **columns)
{
    const roast_summary *summary = NULL;
    roast_error err = {0};
    int status;

    if (source->file) {
        status = roast_runfile_columns(source->file, table, columns, &err);
        return read_well(source, status, &err);
    }
    int code = source_summary(source, &summary);
    if (code != CODE_OK)
        return code;
    status = roast_columns_make(columns, table, source->imported, summary, &err);
    return read_well(source, status, &err);
}

void source_say_state(const struct source *source)
{
    const struct roast_runfile_info *info = &source->info;

    if (info->live)
        say(source->path, "unfinished: the run goes on, or its collector was killed");
    if (info->cut_bytes > 0)
        say(source->path, "%" PRIu64 " bytes at its end are no whole block; left out",
            info->cut_bytes);
    if (info->damaged > 0)
        say(source->path, "%" PRIu64 " damaged pieces; left out", info->damaged);
}
