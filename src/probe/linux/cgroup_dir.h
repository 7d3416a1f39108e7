/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup_dir.h - from a controller's name to the directory of its group. */
#ifndef ROAST_PROBE_LINUX_CGROUP_DIR_H
#define ROAST_PROBE_LINUX_CGROUP_DIR_H

#include "probe/linux/cgroup.h"

struct roast_cgroup_dir {
    int version;        /* 0 = not found */
    size_t mount_bytes; /* the part of path that is the mount */
    char path[ROAST_CGROUP_DIR_BYTES];
};

/* Finds the group below root; text is /proc/self/cgroup. */
struct roast_cgroup_dir roast__cgroup_dir_find(const char *root, struct roast_str text,
                                               const char *controller);

/* Goes to the parent; false at the mount. */
bool roast__cgroup_dir_up(struct roast_cgroup_dir *dir);

#endif
