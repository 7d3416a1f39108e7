/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - limits and throttling of the control groups of this process.
 *
 * Versions 1 and 2 and their mixture; each controller has a version of its own. A limit
 * of any ancestor applies too, so the smallest one up to the root counts, and the
 * counters are read from that group: throttling by a parent's quota is not counted in
 * the group itself. In a container the path in /proc/self/cgroup may be the host's:
 * leading parts that do not exist below the mount are left out. */
#ifndef ROAST_PROBE_LINUX_CGROUP_H
#define ROAST_PROBE_LINUX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/procfile.h"

enum { ROAST_CGROUP_DIR_BYTES = 512 };

struct roast_cgroup {
    int memory_version; /* 1 or 2; 0 = no group found */
    int cpu_version;
    bool memory_limited; /* memory_limit_bytes is known */
    bool cpu_limited;
    uint64_t memory_limit_bytes;
    uint64_t cpu_limit_millicores;
    char memory_dir[ROAST_CGROUP_DIR_BYTES]; /* of the limit, else of the process */
    char cpu_dir[ROAST_CGROUP_DIR_BYTES];
};

/* Finds groups and limits; once per process. NULL roots are "/proc" and
 * "/sys/fs/cgroup". UNAVAILABLE when neither controller has a group. */
int roast__cgroup_find(struct roast_cgroup *group, const char *proc_root,
                       const char *cgroup_root);

struct roast_throttle {
    uint64_t throttled_ns;
    uint64_t throttled_count; /* periods that ended early */
};

/* Each has its own file, whose root becomes a directory of the group: the file borrows
 * the group until it is closed. */
bool roast__throttle_read(struct roast_procfile *file, const struct roast_cgroup *group,
                          struct roast_throttle *throttle);
bool roast__cgroup_cpu_read(struct roast_procfile *file,
                            const struct roast_cgroup *group, uint64_t *used_ns);
bool roast__cgroup_memory_read(struct roast_procfile *file,
                               const struct roast_cgroup *group, uint64_t *used_bytes);
bool roast__cgroup_oom_kills_read(struct roast_procfile *file,
                                  const struct roast_cgroup *group, uint64_t *kills);

/* ---- parsers ------------------------------------------------------------------ */

/* The line of /proc/self/cgroup for a controller. */
struct roast_cgroup_line {
    int version;
    struct roast_str controllers; /* as listed, "cpu,cpuacct"; empty in version 2 */
    struct roast_str path;        /* starts with '/' */
};

bool roast__cgroup_line_find(struct roast_cgroup_line *found, struct roast_str text,
                             const char *controller);

/* A memory limit; false for "max" and for the number version 1 prints instead. */
bool roast__memory_limit_parse(uint64_t *limit_bytes, struct roast_str text);

/* Quota and period in microseconds, as in cpu.max; false for "max" and "-1". */
bool roast__cpu_limit_parse(uint64_t *limit_millicores, struct roast_str text);

bool roast__throttle_parse(struct roast_throttle *throttle, struct roast_str text);

#endif
