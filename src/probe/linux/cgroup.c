/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.c - finds the control groups of this process; reads limits and counters.
 *
 *     4:memory:/jobs/7        version 1: <root>/memory/jobs/7
 *     1:cpu,cpuacct:/         version 1: <root>/cpu,cpuacct or <root>/cpu
 *     0::/user.slice          version 2: <root>/user.slice or <root>/unified/user.slice
 *
 * A directory counts when it holds a file that every group of its version has. The file
 * system decides, not mountinfo: a container may see neither the mount nor the path of
 * its host. The two versions print the same facts in other files; `rows` is the whole
 * difference. */
#include "probe/linux/cgroup.h"

#include <stdio.h>

#include "base/str.h"
#include "probe/linux/scan.h"
#include "roast/error.h"

enum {
    CGROUP_BYTES = 8192, /* /proc/self/cgroup: 14 lines, one may have a long path */
    STAT_BYTES = 1024,
    NUMBER_BYTES = 64,
};

/* "No limit" in version 1 is the largest number of whole pages, which depends on the
 * page size; real limits stay far below this. */
static const uint64_t unlimited_bytes = UINT64_C(1) << 62;

struct row {
    const char *memory_limit;
    const char *memory_used;
    const char *memory_events;
    const char *cpu_quota;
    const char *cpu_period; /* NULL: in the file of the quota */
};

static const struct row rows[] = {
    [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control",
           "cpu.cfs_quota_us", "cpu.cfs_period_us"},
    [2] = {"memory.max", "memory.current", "memory.events", "cpu.max", NULL},
};

bool roast__memory_limit_parse(uint64_t *limit_bytes, struct roast_str text)
{
    uint64_t bytes;

    if (!roast__scan_u64(&bytes, &text) || bytes >= unlimited_bytes)
        return false;
    *limit_bytes = bytes;
    return true;
}

bool roast__cpu_limit_parse(uint64_t *limit_millicores, struct roast_str text)
{
    uint64_t quota_us;
    uint64_t period_us;

    if (!roast__scan_u64(&quota_us, &text) || !roast__scan_u64(&period_us, &text) ||
        period_us == 0 || quota_us > UINT64_MAX / 1000)
        return false;
    *limit_millicores = quota_us * 1000 / period_us;
    return true;
}

bool roast__throttle_parse(struct roast_throttle *throttle, struct roast_str text)
{
    struct roast_throttle read;
    uint64_t us;

    if (!roast__scan_find_u64(&read.throttled_count, text, "nr_throttled"))
        return false;
    if (roast__scan_find_u64(&us, text, "throttled_usec"))
        read.throttled_ns = us * 1000;
    else if (!roast__scan_find_u64(&read.throttled_ns, text, "throttled_time"))
        return false;
    *throttle = read;
    return true;
}

/* ---- from a controller's name to the directory of its group ------------------- */

static bool lists(struct roast_str controllers, const char *controller)
{
    struct roast_str one;

    while (roast__scan_until(&one, &controllers, ',')) {
        if (roast__str_is(one, controller))
            return true;
    }
    return false;
}

bool roast__cgroup_line_find(struct roast_cgroup_line *found, struct roast_str text,
                             const char *controller)
{
    struct roast_str line, hierarchy;
    bool any = false;

    while (roast__scan_until(&line, &text, '\n')) {
        struct roast_cgroup_line read;
        /* the path is all that remains: it may contain colons */
        if (!roast__scan_until(&hierarchy, &line, ':') ||
            !roast__scan_until(&read.controllers, &line, ':') || line.size_bytes == 0 ||
            line.data[0] != '/')
            continue;
        read.version = roast__str_is(hierarchy, "0") ? 2 : 1;
        read.path = line;
        bool names_it = read.version == 1 && lists(read.controllers, controller);
        if (names_it || read.version == 2) {
            *found = read;
            any = true;
        }
        if (names_it)
            break; /* a controller of version 1 is not in the tree of version 2 */
    }
    return any;
}

/* The directory of a group. */
struct group_dir {
    int version;        /* 0 = not found */
    size_t mount_bytes; /* the part of path that is the mount */
    char path[ROAST_CGROUP_DIR_BYTES];
};

/* Appends path to the mount, or as much of its end as exists there: a directory with
 * this file. A namespace shows outside paths as "/..", which would leave the mount. */
static bool enter_path(struct group_dir *dir, struct roast_str path, const char *file)
{
    size_t room = sizeof(dir->path) - dir->mount_bytes;
    char first[2];

    if (roast__str_is(path, "/"))
        path.size_bytes = 0;
    for (;;) {
        if (path.size_bytes < room && !memmem(path.data, path.size_bytes, "/..", 3)) {
            memcpy(dir->path + dir->mount_bytes, path.data, path.size_bytes);
            dir->path[dir->mount_bytes + path.size_bytes] = '\0';
            if (roast__procfile_read_once(dir->path, file, first, sizeof(first)).data)
                return true;
        }
        if (path.size_bytes == 0)
            return false;
        const char *next = memchr(path.data + 1, '/', path.size_bytes - 1);
        size_t part = next ? (size_t)(next - path.data) : path.size_bytes;
        path = (struct roast_str){path.data + part, path.size_bytes - part};
    }
}

/* Finds the group below root; text is /proc/self/cgroup. */
static struct group_dir find_dir(const char *root, struct roast_str text,
                                 const char *controller)
{
    struct group_dir dir = {0, 0, ""};
    struct roast_cgroup_line line;

    if (!roast__cgroup_line_find(&line, text, controller))
        return dir;
    const char *file = line.version == 2                   ? "cgroup.controllers"
                       : strcmp(controller, "memory") == 0 ? "memory.limit_in_bytes"
                                                           : "cpu.shares";
    struct roast_str mounts[2] = {
        line.controllers,
        roast_str_of(line.version == 1 ? controller : "unified"),
    };
    for (size_t i = 0; i < 2; i++) {
        int size = snprintf(dir.path, sizeof(dir.path), "%s%s%.*s", root,
                            mounts[i].size_bytes > 0 ? "/" : "",
                            (int)mounts[i].size_bytes, mounts[i].data);
        dir.mount_bytes = (size_t)size;
        if (size > 0 && (size_t)size < sizeof(dir.path) &&
            enter_path(&dir, line.path, file)) {
            dir.version = line.version;
            return dir;
        }
    }
    return (struct group_dir){0, 0, ""};
}

/* ---- limits ------------------------------------------------------------------- */

static bool read_memory_limit(uint64_t *limit, const char *dir, int version)
{
    char buffer[NUMBER_BYTES];
    struct roast_str text = roast__procfile_read_once(dir, rows[version].memory_limit,
                                                      buffer, sizeof(buffer));

    return roast__memory_limit_parse(limit, text);
}

/* Version 1 has the two numbers in two files; together they are cpu.max. */
static bool read_cpu_limit(uint64_t *limit, const char *dir, int version)
{
    char quota[NUMBER_BYTES];
    char period[NUMBER_BYTES] = "";
    char both[2 * NUMBER_BYTES];
    const struct row *row = &rows[version];
    struct roast_str text =
        roast__procfile_read_once(dir, row->cpu_quota, quota, sizeof(quota));

    if (!text.data)
        return false;
    if (!row->cpu_period)
        return roast__cpu_limit_parse(limit, text);
    (void)roast__procfile_read_once(dir, row->cpu_period, period, sizeof(period));
    quota[strcspn(quota, "\n")] = '\0';
    (void)snprintf(both, sizeof(both), "%s %s", quota, period);
    return roast__cpu_limit_parse(limit, roast_str_of(both));
}

struct limit {
    bool found;
    uint64_t value;
};

/* Checks all groups from this one to the mount. Leaves `dir` at the group with the
 * smallest limit, or at the first group without any limit. */
static struct limit smallest_limit(struct group_dir *dir,
                                   bool (*read)(uint64_t *, const char *, int))
{
    struct limit best = {false, 0};
    struct group_dir at = *dir;
    uint64_t value;

    if (dir->version == 0)
        return best;
    for (;;) {
        if (read(&value, at.path, at.version) && (!best.found || value < best.value)) {
            best = (struct limit){true, value};
            *dir = at;
        }
        if (strlen(at.path) <= at.mount_bytes)
            return best;
        *strrchr(at.path, '/') = '\0';
    }
}

int roast__cgroup_find(struct roast_cgroup *group, const char *proc_root,
                       const char *cgroup_root)
{
    const char *root = cgroup_root ? cgroup_root : "/sys/fs/cgroup";
    char buffer[CGROUP_BYTES];
    struct roast_str text =
        roast__procfile_read_once(proc_root, "self/cgroup", buffer, sizeof(buffer));
    struct group_dir memory = find_dir(root, text, "memory");
    struct group_dir cpu = find_dir(root, text, "cpu");
    struct limit memory_limit = smallest_limit(&memory, read_memory_limit);
    struct limit cpu_limit = smallest_limit(&cpu, read_cpu_limit);

    *group = (struct roast_cgroup){
        .memory_version = memory.version,
        .cpu_version = cpu.version,
        .memory_limited = memory_limit.found,
        .cpu_limited = cpu_limit.found,
        .memory_limit_bytes = memory_limit.value,
        .cpu_limit_millicores = cpu_limit.value,
    };
    memcpy(group->memory_dir, memory.path, sizeof(group->memory_dir));
    memcpy(group->cpu_dir, cpu.path, sizeof(group->cpu_dir));
    return memory.version || cpu.version ? ROAST_OK : ROAST_UNAVAILABLE;
}

/* ---- counters ----------------------------------------------------------------- */

bool roast__throttle_read(struct roast_procfile *file, const struct roast_cgroup *group,
                          struct roast_throttle *throttle)
{
    char buffer[STAT_BYTES];

    if (group->cpu_version == 0)
        return false;
    file->root = group->cpu_dir;
    return roast__throttle_parse(
        throttle, roast__procfile_read(file, "cpu.stat", buffer, sizeof(buffer)));
}

/* Version 1 counts it in a controller of its own. */
bool roast__cgroup_cpu_read(struct roast_procfile *file,
                            const struct roast_cgroup *group, uint64_t *used_ns)
{
    char buffer[STAT_BYTES];
    uint64_t us;

    if (group->cpu_version != 2)
        return false;
    file->root = group->cpu_dir;
    struct roast_str text =
        roast__procfile_read(file, "cpu.stat", buffer, sizeof(buffer));
    if (!roast__scan_find_u64(&us, text, "usage_usec") || us > UINT64_MAX / 1000)
        return false;
    *used_ns = us * 1000;
    return true;
}

bool roast__cgroup_memory_read(struct roast_procfile *file,
                               const struct roast_cgroup *group, uint64_t *used_bytes)
{
    char buffer[NUMBER_BYTES];

    if (group->memory_version == 0)
        return false;
    file->root = group->memory_dir;
    struct roast_str text = roast__procfile_read(
        file, rows[group->memory_version].memory_used, buffer, sizeof(buffer));
    return roast__scan_u64(used_bytes, &text);
}

bool roast__cgroup_oom_kills_read(struct roast_procfile *file,
                                  const struct roast_cgroup *group, uint64_t *kills)
{
    char buffer[STAT_BYTES];

    if (group->memory_version == 0)
        return false;
    file->root = group->memory_dir;
    struct roast_str text = roast__procfile_read(
        file, rows[group->memory_version].memory_events, buffer, sizeof(buffer));
    return roast__scan_find_u64(kills, text, "oom_kill");
}
