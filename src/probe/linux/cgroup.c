/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.c - reads limits and counters of the control groups of this process.
 *
 * The two versions say the same in other files; `rows` is the whole difference. */
#include "probe/linux/cgroup.h"

#include <stdio.h>

#include "probe/linux/cgroup_dir.h"
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

static bool read_memory_limit(uint64_t *limit, const char *dir, int version)
{
    char buffer[NUMBER_BYTES];
    struct roast_str text = roast__procfile_read_once(dir, rows[version].memory_limit,
                                                      buffer, sizeof(buffer));

    return roast__memory_limit_parse(limit, text);
}

/* Version 1 splits the two numbers over two files: put together they are cpu.max. */
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

/* Walks from the group to the mount. Leaves place at the group with the smallest limit;
 * where there is none, at the group itself. */
static struct limit smallest_limit(struct roast_cgroup_dir *place,
                                   bool (*read)(uint64_t *, const char *, int))
{
    struct limit best = {false, 0};
    struct roast_cgroup_dir at = *place;

    if (place->version == 0)
        return best;
    do {
        uint64_t value;
        if (read(&value, at.path, at.version) && (!best.found || value < best.value)) {
            best = (struct limit){true, value};
            *place = at;
        }
    } while (roast__cgroup_dir_up(&at));
    return best;
}

int roast__cgroup_find(struct roast_cgroup *group, const char *proc_root,
                       const char *cgroup_root)
{
    const char *root = cgroup_root ? cgroup_root : "/sys/fs/cgroup";
    char buffer[CGROUP_BYTES];
    struct roast_str text =
        roast__procfile_read_once(proc_root, "self/cgroup", buffer, sizeof(buffer));
    struct roast_cgroup_dir memory = roast__cgroup_dir_find(root, text, "memory");
    struct roast_cgroup_dir cpu = roast__cgroup_dir_find(root, text, "cpu");
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
