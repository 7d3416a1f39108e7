/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c - the run that a command reads: a file, or a folder with one.
 *
 * Of a folder with several runs, the one that started last is read, with a note. A
 * measurement directory without a run file, as roastcoffea 0.1.2 wrote them, is
 * imported. */
#include "source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out.h"
#include "python.h"
#include "roast/export.h"
#include "run_files.h"

/* ---- opening ------------------------------------------------------------------ */

/* Opens source->path unless the file is open already. */
static int open_file(struct source *source)
{
    roast_error err = {0};

    if (!source->file && roast_runfile_open(&source->file, source->path, &err) < 0)
        return fail_with(source->path, &err, NULL);
    roast_runfile_info(source->file, &source->info);
    return CODE_OK;
}

/* Python writes a temporary run file, which is removed as soon as it is open. */
static int import_folder(struct source *source, const char *folder)
{
    const char *scratch = getenv("TMPDIR");
    char *metrics = join_path(folder, "metrics.json");
    bool is_measurement = access(metrics, F_OK) == 0;
    roast_error err = {0};

    free(metrics);
    if (!is_measurement)
        return fail(CODE_UNREADABLE, folder,
                    "no run in it; roast ls DIR lists runs in all folders below");
    if (source->wants_file)
        return fail(CODE_UNREADABLE, folder,
                    "a measurement without a run file; make one with roast import");
    source->path = join_path("", folder);
    char *dir = join_path(scratch && *scratch ? scratch : "/tmp", "roast-XXXXXX");
    if (!mkdtemp(dir)) {
        int code =
            fail(CODE_FAILED, dir, "%s; TMPDIR names another folder", strerror(errno));
        free(dir);
        return code;
    }
    char *path = join_path(dir, ROAST_RUN_NAME);
    int code = python_import(folder, path, true);
    if (code == CODE_OK && roast_runfile_open(&source->file, path, &err) < 0)
        code = fail_with(path, &err, NULL);
    (void)unlink(path);
    (void)rmdir(dir);
    free(path);
    free(dir);
    return code == CODE_OK ? open_file(source) : code;
}

static int open_folder(struct source *source, const char *folder)
{
    struct roast_found_run found;
    roast_error err = {0};

    if (roast_runfile_find(&found, folder, &err) < 0)
        return fail_with(folder, &err, "check its permissions");
    if (!found.path.text)
        return import_folder(source, folder);
    source->path = join_path("", found.path.text);
    source->file = found.file;
    roast_page_release(&found.path);
    if (found.runs > 1)
        note(folder, "%zu runs, using the newest: %s", found.runs, source->path);
    if (found.unreadable > 0 && found.unreadable < found.runs)
        note(folder, "%zu of them cannot be read: see roast check", found.unreadable);
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
    source->wants_file = true;
    return source_open(source, path);
}

void source_close(struct source *source)
{
    roast_runfile_close(source->file);
    free(source->path);
    *source = (struct source){0};
}

/* ---- reading ------------------------------------------------------------------ */

/* Updates the info (damage is known only after reading) and reports an error. */
static int after_read(struct source *source, int status, const roast_error *err)
{
    roast_runfile_info(source->file, &source->info);
    return status < 0 ? fail_with(source->path, err, NULL) : CODE_OK;
}

int source_run(struct source *source, bool whole, roast_run **run)
{
    roast_error err = {0};
    int status = roast_runfile_run(source->file, whole, run, &err);

    return after_read(source, status, &err);
}

int source_anonymised(struct source *source, roast_run **copy)
{
    roast_error err = {0};
    int status = roast_runfile_anonymise(copy, source->file, &err);

    return after_read(source, status, &err);
}

int source_summary(struct source *source, const roast_summary **summary)
{
    roast_error err = {0};
    int status = roast_runfile_summary(source->file, summary, &err);

    return after_read(source, status, &err);
}

int source_table(struct source *source, enum roast_table_id id, roast_table **table)
{
    roast_error err = {0};
    int status = roast_runfile_columns(source->file, id, table, &err);

    return after_read(source, status, &err);
}

int source_open_side(struct source *source, const char *path, struct roast_side *side,
                     roast_table **chunks)
{
    int code = source_open(source, path);

    if (code == CODE_OK)
        code = source_table(source, ROAST_TABLE_chunks, chunks);
    if (code == CODE_OK)
        code = source_run(source, false, &side->run);
    if (code == CODE_OK)
        code = source_summary(source, &side->summary);
    side->chunks = *chunks;
    if (code == CODE_OK)
        source_note_state(source);
    return code;
}

enum roast_origin source_origin(const struct source *source)
{
    return source->info.live ? ROAST_IN_LIVE_FILE : ROAST_IN_RUN_FILE;
}

void source_note_state(const struct source *source)
{
    const struct roast_runfile_info *info = &source->info;
    const char *ending = roast_report_ending(source_origin(source), info->ended);

    if (ending)
        note(source->path, "%s", ending);
    if (info->cut_bytes > 0)
        note(source->path,
             "%" PRIu64 " bytes at its end are an incomplete block; left out",
             info->cut_bytes);
    if (info->damaged > 0)
        note(source->path, "%" PRIu64 " damaged part%s; left out", info->damaged,
             info->damaged == 1 ? "" : "s");
}
