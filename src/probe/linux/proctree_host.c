/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree_host.c - CPU of this process and memory of this machine.
 *
 * Memory in use is what could not be given to somebody else: the kernel estimates that
 * for the machine (MemAvailable); for a control group it is what is charged to it less
 * the files in the cache that were not used of late, as container runtimes count. */
#include <sys/resource.h>

#include "probe/linux/cgroup.h"
#include "probe/linux/proctree.h"
#include "probe/linux/scan.h"

enum { MEMINFO_BYTES = 4096, STAT_BYTES = 16384 };

static uint64_t cpu_of(int who)
{
    struct rusage usage;

    if (getrusage(who, &usage) != 0)
        return 0; /* cannot be: both are known to every kernel */
    uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    uint64_t us = (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return seconds * 1000000000 + us * 1000;
}

void roast_cpu_used(uint64_t *own_ns, uint64_t *children_ns)
{
    *own_ns = cpu_of(RUSAGE_SELF);
    *children_ns = cpu_of(RUSAGE_CHILDREN);
}

struct memory {
    uint64_t used_bytes;
    uint64_t total_bytes;
};

static bool read_machine(struct memory *memory, const char *proc_root)
{
    char buffer[MEMINFO_BYTES];
    struct roast_str text =
        roast__procfile_read_once(proc_root, "meminfo", buffer, sizeof(buffer));
    uint64_t total_kib, available_kib;

    if (!roast__scan_find_u64(&total_kib, text, "MemTotal") || total_kib == 0 ||
        !roast__scan_find_u64(&available_kib, text, "MemAvailable") ||
        available_kib > total_kib || total_kib > UINT64_MAX / 1024)
        return false;
    memory->used_bytes = (total_kib - available_kib) * 1024;
    memory->total_bytes = total_kib * 1024;
    return true;
}

/* Both versions print the cache; version 1 that of the group alone under a name of its
 * own, and with "total_" that of the groups below it, which are charged too. */
static uint64_t idle_cache_bytes(const struct roast_cgroup *group)
{
    char buffer[STAT_BYTES];
    struct roast_str text = roast__procfile_read_once(group->memory_dir, "memory.stat",
                                                      buffer, sizeof(buffer));
    uint64_t bytes;

    if (roast__scan_find_u64(&bytes, text, "total_inactive_file") ||
        roast__scan_find_u64(&bytes, text, "inactive_file"))
        return bytes;
    return 0;
}

/* False when the use of a group that has a limit cannot be read. */
static bool read_group(struct memory *memory, const struct roast_cgroup *group)
{
    struct roast_procfile file = {0};
    uint64_t used_bytes;

    bool known = roast__cgroup_memory_read(&file, group, &used_bytes);
    roast__procfile_close(&file);
    if (!known)
        return false;
    uint64_t idle_bytes = idle_cache_bytes(group);
    memory->used_bytes = used_bytes > idle_bytes ? used_bytes - idle_bytes : 0;
    memory->total_bytes = group->memory_limit_bytes;
    return memory->total_bytes > 0;
}

bool roast__memory_used_percent(const char *proc_root, const char *cgroup_root,
                                double *percent)
{
    struct roast_cgroup group;
    struct memory memory;

    if (!read_machine(&memory, proc_root))
        return false;
    (void)roast__cgroup_find(&group, proc_root, cgroup_root);
    if (group.memory_limited && group.memory_limit_bytes < memory.total_bytes &&
        !read_group(&memory, &group))
        return false;
    double ratio = (double)memory.used_bytes / (double)memory.total_bytes;
    *percent = ratio < 1 ? 100 * ratio : 100;
    return true;
}

bool roast_memory_used_percent(const char *proc_root, double *percent)
{
    return roast__memory_used_percent(proc_root, NULL, percent);
}
