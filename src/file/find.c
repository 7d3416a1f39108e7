/* SPDX-License-Identifier: BSD-3-Clause */
/* find.c - the run that a folder stands for: the one that began last.
 *
 * Runs of a block with output_dir are NAME.roast-live while they go on and
 * NAME/run.roast afterwards. For a moment both are there; but a live file may also stay
 * beside a run of the same name that was there before: only their ids tell. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "file/runfile.h"
#include "roast/live.h"

#define RUN_NAME "/run" ROAST_FILE_SUFFIX /* of a measurement directory */

struct candidate {
    struct roast_page path; /* owned */
    bool readable;
    int64_t start_ns;
};

/* Joins three texts. */
static int make_path(struct roast_page *out, struct roast_str folder,
                     struct roast_str name, const char *end, roast_error *err)
{
    bool slash = folder.size_bytes > 0 && folder.data[folder.size_bytes - 1] != '/';
    size_t room = folder.size_bytes + name.size_bytes + strlen(end) + 2;

    out->text = roast__realloc(NULL, room);
    if (!out->text)
        return roast_error_set(err, ROAST_NO_MEMORY, "a path of %zu bytes", room);
    out->size_bytes = (size_t)snprintf(
        out->text, room, "%.*s%s%.*s%s", (int)folder.size_bytes, folder.data,
        slash ? "/" : "", (int)name.size_bytes, name.data, end);
    return ROAST_OK;
}

static bool is_file(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

static bool ends_with(struct roast_str name, const char *end)
{
    size_t size = strlen(end);

    return name.size_bytes > size &&
           memcmp(name.data + name.size_bytes - size, end, size) == 0;
}

/* ---- live files beside finished ones ----------------------------------------------- */

/* 1: the run file NAME + end is of the run with this id. */
static int is_same_run(struct roast_str name, const char *end, const char *id,
                       roast_error *err)
{
    struct roast_glance glance;
    struct roast_page path;
    int status = make_path(&path, (struct roast_str){"", 0}, name, end, err);

    if (status < 0)
        return status;
    if (is_file(path.text)) {
        status = roast__glance(&glance, path.text, false, err);
        if (status == ROAST_OK)
            status = strcmp(glance.id, id) == 0;
    }
    roast_page_release(&path);
    return status == ROAST_NO_MEMORY || status == 1 ? status : 0;
}

/* 1: a live file whose finished one is there is about to be removed. */
static int is_replaced(const struct roast_page *path, const struct roast_glance *glance,
                       roast_error *err)
{
    struct roast_str name = {path->text, path->size_bytes - strlen(ROAST_LIVE_SUFFIX)};

    if (!glance->live || !*glance->id ||
        !ends_with((struct roast_str){path->text, path->size_bytes}, ROAST_LIVE_SUFFIX))
        return 0;
    int status = is_same_run(name, RUN_NAME, glance->id, err);
    return status != 0 ? status : is_same_run(name, ROAST_FILE_SUFFIX, glance->id, err);
}

/* ---- the newest -------------------------------------------------------------------- */

static bool is_newer(const struct candidate *a, const struct candidate *b)
{
    if (!b->path.text || a->readable != b->readable)
        return !b->path.text || a->readable;
    if (a->start_ns != b->start_ns)
        return a->start_ns > b->start_ns;
    return strcmp(a->path.text, b->path.text) > 0;
}

/* 1: it is a run; 0: it is none, or shown by another file. */
static int look_at(struct candidate *one, roast_error *err)
{
    struct roast_glance glance;
    int status;

    if (!is_file(one->path.text))
        return 0;
    status = roast__glance(&glance, one->path.text, false, err);
    if (status == ROAST_NO_MEMORY)
        return status;
    one->readable = status == ROAST_OK;
    one->start_ns = glance.start_ns;
    status = one->readable ? is_replaced(&one->path, &glance, err) : 0;
    return status < 0 ? status : status == 0;
}

static int take(struct roast_found_run *out, struct candidate *best, const char *folder,
                const char *entry, roast_error *err)
{
    struct roast_str name = roast_str_of(entry);
    bool is_run =
        ends_with(name, ROAST_FILE_SUFFIX) || ends_with(name, ROAST_LIVE_SUFFIX);
    struct candidate one = {{NULL, 0}, false, 0};
    int status =
        make_path(&one.path, roast_str_of(folder), name, is_run ? "" : RUN_NAME, err);

    if (status == ROAST_OK)
        status = look_at(&one, err);
    if (status > 0) {
        out->runs++;
        out->unreadable += !one.readable;
        if (is_newer(&one, best)) {
            struct candidate older = *best;
            *best = one;
            one = older;
        }
    }
    roast_page_release(&one.path);
    return status < 0 ? status : ROAST_OK;
}

int roast_runfile_find(struct roast_found_run *out, const char *folder,
                       roast_error *err)
{
    struct candidate best = {{NULL, 0}, false, 0};
    const struct dirent *entry;
    DIR *dir = opendir(folder);
    int status = ROAST_OK;

    *out = (struct roast_found_run){.runs = 0};
    if (!dir)
        return roast_error_set(err, ROAST_IO, "%s", strerror(errno));
    while (status == ROAST_OK && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            status = take(out, &best, folder, entry->d_name, err);
    (void)closedir(dir);
    if (status == ROAST_OK)
        out->path = best.path;
    else
        roast_page_release(&best.path);
    return status;
}
