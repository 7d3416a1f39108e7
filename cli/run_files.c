/* SPDX-License-Identifier: BSD-3-Clause */
/* run_files.c - the run files below a folder.
 *
 * No recursion: a folder tree may be deeper than the C stack. */
#include "run_files.h"

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

/* The type of an entry (DT_*); some file systems need lstat() for it. */
static int type_of(const char *folder, const struct dirent *entry)
{
    struct stat found;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    char *path = join_path(folder, entry->d_name);
    int type = lstat(path, &found) == 0 ? (int)IFTODT(found.st_mode) : DT_UNKNOWN;
    free(path);
    return type;
}

/* Adds the run files and the subfolders of a folder; false, with errno, on failure. */
static bool read_folder(struct paths *found, struct paths *pending, const char *folder)
{
    DIR *dir = opendir(*folder ? folder : ".");
    const struct dirent *entry;

    if (!dir)
        return false;
    while (errno = 0, entry = readdir(dir)) {
        if (roast_is_hidden_name(entry->d_name))
            continue;
        int type = type_of(folder, entry);
        if (type == DT_DIR)
            paths_add(pending, folder, entry->d_name);
        else if (type == DT_REG && roast_is_run_name(entry->d_name))
            paths_add(found, folder, entry->d_name);
    }
    int error = errno;
    (void)closedir(dir);
    errno = error;
    return error == 0;
}

int find_run_files(struct paths *found, size_t *unreadable, const char *folder)
{
    struct paths pending = {0};

    *unreadable = 0;
    if (!read_folder(found, &pending, folder)) {
        int error = errno;
        paths_release(&pending);
        return fail(CODE_UNREADABLE, *folder ? folder : ".",
                    "%s; check the path and its permissions", strerror(error));
    }
    while (pending.count > 0) {
        char *next = pending.items[--pending.count];
        if (!read_folder(found, &pending, next) &&
            errno != ENOENT) { /* gone meanwhile */
            note(next, "%s; the runs below it are left out", strerror(errno));
            ++*unreadable;
        }
        free(next);
    }
    paths_release(&pending);
    return CODE_OK;
}
