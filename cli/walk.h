/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.h - paths, and the run files below a folder. */
#ifndef ROAST_CLI_WALK_H
#define ROAST_CLI_WALK_H

#include <stddef.h>

/* folder/name; name alone where folder is "". Owned. */
char *join_path(const char *folder, const char *name);

/* Zeroed = empty. */
struct paths {
    char **items; /* owned */
    size_t count;
    size_t cap;
};

void paths_add(struct paths *paths, const char *folder, const char *name);
void paths_release(struct paths *paths);

/* Adds every .roast and .roast-live file below a folder ("": this one), in any order.
 * Links are not followed, what is hidden is passed over. A folder below that cannot be
 * read is reported and counted in *left_out; 0, or an exit code when that is the first one. */
int find_runs(struct paths *found, size_t *left_out, const char *folder);

#endif
