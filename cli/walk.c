/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.c - the run files below a folder.
 *
 * Folders wait on a stack of paths, not on that of C: a tree may be deeper than a thread
 * can recurse. */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "roast/runfile.h"

char *join_path(const char *folder, const char *name)
{
    size_t folder_size = strlen(folder);
    size_t size = folder_size + strlen(name) + 2;
    char *path = need_memory(NULL, size);
    bool slash = folder_size == 0 || folder[folder_size - 1] == '/';

    (void)snprintf(path, size, "%s%s%s", folder, slash ? "" : "/", name);
    return path;
}

void paths_add(struct paths *paths, const char *folder, const char *name)
{
    char *path = join_path(folder, name);

    if (paths->count == paths->cap) {
        paths->cap = 2 * paths->cap + 64;
        paths->items = need_memory(paths->items, paths->cap * sizeof(*paths->items));
    }
    paths->items[paths->count++] = path;
}

void paths_release(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (struct paths){0};
}

enum kind { OTHER, FOLDER, FILE_ITSELF };

/* The kind of an entry; a few file systems give it by lstat() only. */
static enum kind kind_of(const char *folder, const struct dirent *entry)
{
    struct paths one = {0};
    struct stat found;
    enum kind kind = OTHER;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR   ? FOLDER
               : entry->d_type == DT_REG ? FILE_ITSELF
                                         : OTHER;
    paths_add(&one, folder, entry->d_name);
    if (lstat(one.items[0], &found) == 0)
        kind = S_ISDIR(found.st_mode)   ? FOLDER
               : S_ISREG(found.st_mode) ? FILE_ITSELF
                                        : OTHER;
    paths_release(&one);
    return kind;
}

/* Reads a folder to its end; false, with errno, where that fails. */
static bool look_into(struct paths *found, struct paths *waiting, const char *folder)
{
    DIR *dir = opendir(*folder ? folder : ".");
    const struct dirent *entry;

    if (!dir)
        return false;
    while (errno = 0, entry = readdir(dir)) {
        if (roast_is_hidden_name(entry->d_name))
            continue;
        enum kind kind = kind_of(folder, entry);
        if (kind == FOLDER)
            paths_add(waiting, folder, entry->d_name);
        else if (kind == FILE_ITSELF && roast_is_run_name(entry->d_name))
            paths_add(found, folder, entry->d_name);
    }
    int error = errno;
    (void)closedir(dir);
    errno = error;
    return error == 0;
}

int find_runs(struct paths *found, size_t *left_out, const char *folder)
{
    struct paths waiting = {0};

    *left_out = 0;
    if (!look_into(found, &waiting, folder)) {
        int error = errno;
        paths_release(&waiting);
        return fail(CODE_UNREADABLE, *folder ? folder : ".",
                    "%s; is the path right, and may you read it?", strerror(error));
    }
    while (waiting.count > 0) {
        char *next = waiting.items[--waiting.count];
        if (!look_into(found, &waiting, next) && errno != ENOENT) { /* gone meanwhile */
            note(next, "%s; what is below it is left out", strerror(errno));
            ++*left_out;
        }
        free(next);
    }
    paths_release(&waiting);
    return CODE_OK;
}
