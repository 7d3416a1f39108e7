/* SPDX-License-Identifier: BSD-3-Clause */
/* find.c - finds the newest run in a folder.
 *
 * With output_dir a run is NAME.roast-live while it runs and NAME/run.roast afterwards.
 * For a moment both exist. A live file may also exist next to an earlier run of the
 * same name: only the ids distinguish the two cases. A run may also end during the
 * search: a file that disappeared makes it start again. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/mem.h"
#include "file/runfile.h"
#include "roast/live.h"

#define RUN_IN_FOLDER "/" ROAST_RUN_NAME

enum { MAX_SEARCHES = 3 };

struct candidate {
    struct roast_page path; /* owned */
    bool readable;
    int64_t start_ns;
};

struct search {
    struct candidate *items; /* owned */
    size_t count;
    size_t cap;
    bool disappeared; /* a file disappeared during the search */
};

static void search_release(struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        roast_page_release(&search->items[i].path);
    roast__free(search->items);
    *search = (struct search){.items = NULL};
}

/* ---- names ----------------------------------------------------------------------- */

bool roast_is_hidden_name(const char *name)
{
    return name[0] == '.';
}

static bool ends_with(const char *name, const char *end)
{
    size_t size = strlen(name);
    size_t end_size = strlen(end);

    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

bool roast_is_run_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return !roast_is_hidden_name(name) &&
           (ends_with(name, ROAST_FILE_SUFFIX) || ends_with(name, ROAST_LIVE_SUFFIX));
}

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

enum kind { DISAPPEARED, OTHER, FOLDER, FILE_ITSELF };

static enum kind kind_of(const char *path)
{
    struct stat found;

    if (stat(path, &found) != 0) /* a broken link is kept */
        return lstat(path, &found) != 0 && errno == ENOENT ? DISAPPEARED : OTHER;
    return S_ISDIR(found.st_mode)   ? FOLDER
           : S_ISREG(found.st_mode) ? FILE_ITSELF
                                    : OTHER;
}

/* ---- live files and finished files of the same run
 * -------------------------------- */

/* 1: the run file NAME + end has this run id. */
static int is_same_run(struct roast_str name, const char *end, const char *id,
                       roast_error *err)
{
    struct roast_run_info info;
    struct roast_page path;
    int status = make_path(&path, (struct roast_str){"", 0}, name, end, err);

    if (status < 0)
        return status;
    if (kind_of(path.text) == FILE_ITSELF) {
        status = roast__run_info(&info, path.text, false, err);
        if (status == ROAST_OK)
            status = strcmp(info.id, id) == 0;
    }
    roast_page_release(&path);
    return status == ROAST_NO_MEMORY || status == 1 ? status : 0;
}

/* 1: a live file that will be removed, because the finished file exists. */
static int is_replaced(const struct roast_page *path, const struct roast_run_info *info,
                       roast_error *err)
{
    struct roast_str name = {path->text, path->size_bytes - strlen(ROAST_LIVE_SUFFIX)};

    if (!info->live || !*info->id || !ends_with(path->text, ROAST_LIVE_SUFFIX))
        return 0;
    int status = is_same_run(name, RUN_IN_FOLDER, info->id, err);
    return status != 0 ? status : is_same_run(name, ROAST_FILE_SUFFIX, info->id, err);
}

/* ---- the search ------------------------------------------------------------------ */

/* 1: a file is a run; 0: it is not, or another file has the same run. */
static int read_candidate(struct candidate *one, bool *disappeared, roast_error *err)
{
    struct roast_run_info info;
    int status = roast__run_info(&info, one->path.text, false, err);

    if (status == ROAST_NO_MEMORY)
        return status;
    one->readable = status == ROAST_OK;
    one->start_ns = info.start_ns;
    if (!one->readable && kind_of(one->path.text) == DISAPPEARED) {
        *disappeared = true;
        return 0;
    }
    status = one->readable ? is_replaced(&one->path, &info, err) : 0;
    return status < 0 ? status : status == 0;
}

/* The path of the run in an entry of the folder: 1; 0: there is none. */
static int path_of(struct roast_page *out, bool *disappeared, const char *folder,
                   const char *entry, roast_error *err)
{
    int status =
        make_path(out, roast_str_of(folder), roast_str_of(entry), RUN_IN_FOLDER, err);

    if (status < 0)
        return status;
    char *folder_end = out->text + out->size_bytes - strlen(RUN_IN_FOLDER);
    *folder_end = '\0';
    enum kind kind = kind_of(out->text);
    if (kind == FOLDER) {
        *folder_end = RUN_IN_FOLDER[0];
        return kind_of(out->text) == FILE_ITSELF;
    }
    *disappeared = *disappeared || kind == DISAPPEARED;
    out->size_bytes -= strlen(RUN_IN_FOLDER);
    return kind == FILE_ITSELF && roast_is_run_name(entry);
}

static int add_entry(struct search *search, const char *folder, const char *entry,
                     roast_error *err)
{
    struct candidate one = {{NULL, 0}, false, 0};
    int status = path_of(&one.path, &search->disappeared, folder, entry, err);

    if (status > 0)
        status = read_candidate(&one, &search->disappeared, err);
    if (status > 0) {
        struct candidate *items = roast__array_room(search->items, &search->cap,
                                                    search->count, sizeof(*items));
        if (items) {
            search->items = items;
            items[search->count++] = one;
            return ROAST_OK;
        }
        status = roast_error_set(err, ROAST_NO_MEMORY, "a list of runs");
    }
    roast_page_release(&one.path);
    return status < 0 ? status : ROAST_OK;
}

static int read_folder(struct search *search, const char *folder, roast_error *err)
{
    DIR *dir = opendir(folder);
    int status = ROAST_OK;

    if (!dir)
        return roast_error_set(err, ROAST_IO, "%s", strerror(errno));
    while (status == ROAST_OK) {
        errno = 0; /* NULL is the end, or an error */
        const struct dirent *entry = readdir(dir);
        if (!entry && errno != 0)
            status = roast_error_set(err, ROAST_IO, "%s", strerror(errno));
        if (!entry)
            break;
        if (!roast_is_hidden_name(entry->d_name))
            status = add_entry(search, folder, entry->d_name, err);
    }
    (void)closedir(dir);
    return status;
}

/* ---- the newest ------------------------------------------------------------------ */

/* The best one first. */
static int compare(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;

    if (a->readable != b->readable)
        return a->readable ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns > b->start_ns ? -1 : 1;
    return strcmp(b->path.text, a->path.text);
}

/* A file with an info may still fail to open: then the next one is tried. */
static int open_one(struct roast_found_run *out, struct search *search,
                    roast_error *err)
{
    struct candidate *chosen = search->items;

    for (size_t i = 0; i < search->count && search->items[i].readable; i++) {
        struct candidate *one = &search->items[i];
        int status = roast_runfile_open(&out->file, one->path.text, err);
        if (status == ROAST_NO_MEMORY)
            return status;
        if (status == ROAST_OK) {
            chosen = one;
            break;
        }
        one->readable = false;
        search->disappeared =
            search->disappeared || kind_of(one->path.text) == DISAPPEARED;
    }
    for (size_t i = 0; i < search->count; i++)
        out->unreadable += !search->items[i].readable;
    out->runs = search->count;
    if (search->count > 0) {
        out->path = chosen->path;
        chosen->path = (struct roast_page){NULL, 0}; /* moved to the caller */
    }
    return ROAST_OK;
}

static int find_once(struct roast_found_run *out, bool *disappeared, const char *folder,
                     roast_error *err)
{
    struct search search = {.items = NULL};
    int status = read_folder(&search, folder, err);

    if (status == ROAST_OK && search.count > 0)
        qsort(search.items, search.count, sizeof(*search.items), compare);
    if (status == ROAST_OK)
        status = open_one(out, &search, err);
    *disappeared = search.disappeared;
    search_release(&search);
    return status;
}

int roast_runfile_find(struct roast_found_run *out, const char *folder,
                       roast_error *err)
{
    bool disappeared = true;
    int status = ROAST_OK;

    *out = (struct roast_found_run){.runs = 0};
    for (int i = 0; i < MAX_SEARCHES && disappeared && status == ROAST_OK; i++) {
        roast_page_release(&out->path);
        roast_runfile_close(out->file);
        *out = (struct roast_found_run){.runs = 0};
        status = find_once(out, &disappeared, folder, err);
    }
    return status;
}
