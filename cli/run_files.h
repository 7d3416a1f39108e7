/* SPDX-License-Identifier: BSD-3-Clause */
/* run_files.h - paths, and the run files below a folder. */
#ifndef ROAST_CLI_RUN_FILES_H
#define ROAST_CLI_RUN_FILES_H

#include <stddef.h>

/* "folder/name", or name where folder is "". Returns owned. */
char *join_path(const char *folder, const char *name);

/* Zeroed = empty. */
struct paths {
    char **items; /* owned */
    size_t count;
    size_t cap;
};

void paths_add(struct paths *paths, const char *folder, const char *name);
void paths_release(struct paths *paths);

/* Adds every .roast and .roast-live file below a folder ("": the current one), in any
 * order. Links are not followed, hidden files are skipped. A subfolder that cannot be
 * read is reported and counted in *unreadable. Returns 0, or an exit code if the folder
 * itself cannot be read. */
int find_run_files(struct paths *found, size_t *unreadable, const char *folder);

#endif
