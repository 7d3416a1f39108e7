/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c - the run that a command was given: a file, or a folder that holds one.
 *
 * A folder with several runs means the one that began last, which is said. A
 * measurement directory that has no run file, as roastcoffea 0.1.2 wrote them, is
 * imported in memory. */
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "roast/import.h"
#include "walk.h"

/* ---- opening ------------------------------------------------------------------ */

/* Unless the file is open already. */
static int open_file(struct source *source)
{
    roast_error err = {0};

    if (!source->file && roast_runfile_open(&source->file, source->path, &err) < 0)
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
                    "no run in it; roast ls DIR looks into all folders below");
    source->path = join_path("", folder);
    if (roast_import(&source->imported, folder, &err) < 0)
        return fail_with(folder, &err, "is it a measurement directory?");
    return CODE_OK;
}

static int open_folder(struct source *source, const char *folder)
{
    struct roast_found_run found;
    roast_error err = {0};

    if (roast_runfile_find(&found, folder, &err) < 0)
        return fail_with(folder, &err, "may you read this folder?");
    if (!found.path.text)
        return import_folder(source, folder);
    source->path = join_path("", found.path.text);
    source->file = found.file;
    roast_page_release(&found.path);
    if (found.runs > 1)
        say(folder, "%zu runs, this is the newest: %s", found.runs, source->path);
    if (found.unreadable > 0 && found.unreadable < found.runs)
        say(folder, "%zu of them cannot be read: roast check tells why",
            found.unreadable);
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

int source_table(struct source *source, enum roast_table_id id, roast_table **table)
{
    const roast_summary *summary = NULL;
    roast_error err = {0};
    int status;

    if (source->file) {
        status = roast_runfile_columns(source->file, id, table, &err);
        return read_well(source, status, &err);
    }
    int code = source_summary(source, &summary);
    if (code != CODE_OK)
        return code;
    status = roast_run_table(table, id, source->imported, summary, &err);
    return read_well(source, status, &err);
}

int source_side(struct source *source, const char *path, struct roast_side *side,
                roast_table **chunks)
{
    int code = source_open(source, path);

    if (code == CODE_OK)
        code = source_table(source, ROAST_TABLE_chunks, chunks);
    if (code == CODE_OK) /* what is damaged is known when chunks were read */
        code = source_summary(source, &side->summary);
    side->chunks = *chunks;
    if (code == CODE_OK)
        source_say_state(source);
    return code;
}

enum roast_origin source_origin(const struct source *source)
{
    return source->info.live ? ROAST_IN_LIVE_FILE : ROAST_IN_RUN_FILE;
}

void source_say_state(const struct source *source)
{
    const struct roast_runfile_info *info = &source->info;
    const char *ending = roast_report_ending(source_origin(source), info->ended);

    if (source->file && ending)
        say(source->path, "%s", ending);
    if (info->cut_bytes > 0)
        say(source->path, "%" PRIu64 " bytes at its end are no whole block; left out",
            info->cut_bytes);
    if (info->damaged > 0)
        say(source->path, "%" PRIu64 " damaged piece%s; left out", info->damaged,
            info->damaged == 1 ? "" : "s");
}
