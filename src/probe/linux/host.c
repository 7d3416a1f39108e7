/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - facts about this host and this process, read once. */
#include "probe/linux/host.h"

#include <stdio.h>
#if ROAST_PROCFS
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#endif

#include "base/clock.h"
#include "probe/linux/process_tree.h"
#include "probe/linux/scan.h"
#include "roast/error.h"

enum type { U64, TEXT };

static const struct {
    enum type type;
    const char *name;
} facts[ROAST_HOST_COUNT] = {
#define H(name, type, unit, text) {type, #name},
#include "probe/linux/host_facts.def"
#undef H
};

static void set_u64(struct roast_host *host, enum roast_host_fact fact, uint64_t value)
{
    host->values[fact].u64 = value;
    host->present |= UINT64_C(1) << fact;
}

void roast__host_add_cgroup(struct roast_host *host, const struct roast_cgroup *group)
{
    int version = group->memory_version ? group->memory_version : group->cpu_version;

    if (version > 0)
        set_u64(host, ROAST_HOST_cgroup_version, (uint64_t)version);
    if (group->memory_limited)
        set_u64(host, ROAST_HOST_memory_limit_bytes, group->memory_limit_bytes);
    if (group->cpu_limited)
        set_u64(host, ROAST_HOST_cpu_limit_millicores, group->cpu_limit_millicores);
}

struct roast_str roast__cpu_model_parse(char *out, size_t out_bytes,
                                        struct roast_str text)
{
    struct roast_str model;
    struct roast_str implementer;
    int size = 0;

    if (roast__scan_find(&model, text, "model name"))
        size = snprintf(out, out_bytes, "%.*s", (int)model.size_bytes, model.data);
    else if (roast__scan_find(&implementer, text, "CPU implementer") &&
             roast__scan_find(&model, text, "CPU part"))
        size = snprintf(out, out_bytes, "implementer %.*s part %.*s",
                        (int)implementer.size_bytes, implementer.data,
                        (int)model.size_bytes, model.data);
    return size > 0 ? roast_str_of(out) : (struct roast_str){NULL, 0};
}

#if ROAST_PROCFS

enum { PATH_BYTES = 1024, FILE_BYTES = 4096, MAX_CPUS = 8 * CPU_SETSIZE };

/* An empty text counts as absent. */
static void set_text(struct roast_host *host, enum roast_host_fact fact,
                     struct roast_str text)
{
    char *out = host->values[fact].text;
    struct roast_str fit = roast_str_cut(text, ROAST_HOST_TEXT_BYTES - 1);

    if (fit.size_bytes == 0)
        return;
    memcpy(out, fit.data, fit.size_bytes);
    out[fit.size_bytes] = '\0';
    host->present |= UINT64_C(1) << fact;
}

/* sysconf() returns -1 for an unknown value. */
static void set_sysconf(struct roast_host *host, enum roast_host_fact fact, int name)
{
    long value = sysconf(name);

    if (value > 0)
        set_u64(host, fact, (uint64_t)value);
}

static void read_system(struct roast_host *host)
{
    struct utsname system;
    cpu_set_t allowed[MAX_CPUS / CPU_SETSIZE];

    if (uname(&system) == 0) {
        set_text(host, ROAST_HOST_host, roast_str_of(system.nodename));
        set_text(host, ROAST_HOST_kernel, roast_str_of(system.release));
        set_text(host, ROAST_HOST_machine, roast_str_of(system.machine));
    }
    if (sched_getaffinity(0, sizeof(allowed), allowed) == 0)
        set_u64(host, ROAST_HOST_cpus_allowed,
                (uint64_t)CPU_COUNT_S(sizeof(allowed), allowed));
    set_sysconf(host, ROAST_HOST_cpus_online, _SC_NPROCESSORS_ONLN);
    set_sysconf(host, ROAST_HOST_page_bytes, _SC_PAGESIZE);
    set_sysconf(host, ROAST_HOST_clock_tick_hz, _SC_CLK_TCK);
#ifdef __GLIBC__
    char libc[ROAST_HOST_TEXT_BYTES];
    (void)snprintf(libc, sizeof(libc), "glibc %s", gnu_get_libc_version());
    set_text(host, ROAST_HOST_libc, roast_str_of(libc));
#endif
}

/* The kernel appends " (deleted)" when the file has been replaced since. */
static void read_executable(struct roast_host *host, const char *root)
{
    static const char deleted[] = " (deleted)";
    char path[PATH_BYTES];
    char target[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/self/exe", root);
    ssize_t size = readlink(path, target, sizeof(target) - 1);
    if (size <= 0)
        return;
    target[size] = '\0';
    const char *slash = strrchr(target, '/');
    struct roast_str name = roast_str_of(slash ? slash + 1 : target);
    size_t suffix = sizeof(deleted) - 1;
    if (name.size_bytes > suffix &&
        memcmp(name.data + name.size_bytes - suffix, deleted, suffix) == 0)
        name.size_bytes -= suffix;
    set_text(host, ROAST_HOST_executable, name);
}

static void read_process(struct roast_host *host, struct roast_str text)
{
    struct roast_process_stat stat;
    uint64_t tick_hz = host->values[ROAST_HOST_clock_tick_hz].u64;

    if (!roast__process_stat_parse(&stat, text))
        return;
    set_u64(host, ROAST_HOST_parent_pid, stat.parent_pid);
    if (tick_hz == 0 || stat.started_ticks > UINT64_MAX / 1000000000)
        return;
    uint64_t start_ns = stat.started_ticks * 1000000000 / tick_hz;
    int64_t boot_epoch_ns = roast__clock_epoch_ns() - roast__clock_ns(CLOCK_BOOTTIME);
    set_u64(host, ROAST_HOST_start_boot_ns, start_ns);
    set_u64(host, ROAST_HOST_start_epoch_ns, (uint64_t)boot_epoch_ns + start_ns);
}

int roast__host_read(struct roast_host *host, const char *proc_root)
{
    const char *root = proc_root ? proc_root : "/proc";
    char buffer[FILE_BYTES];
    char model[ROAST_HOST_TEXT_BYTES];
    uint64_t total_kib;
    struct roast_str line;

    memset(host, 0, sizeof(*host));
    read_system(host);
    struct roast_str text =
        roast__procfile_read_once(root, "cpuinfo", buffer, sizeof(buffer));
    set_text(host, ROAST_HOST_cpu_model,
             roast__cpu_model_parse(model, sizeof(model), text));
    text = roast__procfile_read_once(root, "meminfo", buffer, sizeof(buffer));
    if (roast__scan_find_u64(&total_kib, text, "MemTotal"))
        set_u64(host, ROAST_HOST_memory_total_bytes, total_kib * 1024);
    text = roast__procfile_read_once(root, "sys/kernel/random/boot_id", buffer,
                                     sizeof(buffer));
    if (roast__scan_until(&line, &text, '\n'))
        set_text(host, ROAST_HOST_boot_id, line);
    read_executable(host, root);
    text = roast__procfile_read_once(root, "self/stat", buffer, sizeof(buffer));
    read_process(host, text);
    return ROAST_OK;
}

#else

int roast__host_read(struct roast_host *host, const char *proc_root)
{
    (void)proc_root;
    memset(host, 0, sizeof(*host));
    return ROAST_UNAVAILABLE;
}

#endif

void roast__host_put_facts(struct roast_values *out)
{
    struct roast_host host;
    struct roast_cgroup group;

    (void)roast__host_read(&host, NULL);
    (void)roast__cgroup_find(&group, NULL, NULL);
    roast__host_add_cgroup(&host, &group);
    for (int fact = 0; fact < ROAST_HOST_COUNT; fact++) {
        if (!roast__host_has(&host, (enum roast_host_fact)fact))
            continue;
        roast_values_put_key(out, roast_str_of(facts[fact].name));
        if (facts[fact].type == TEXT)
            roast_values_put_text(out, roast_str_of(host.values[fact].text));
        else
            roast_values_put_int(out, (int64_t)host.values[fact].u64);
    }
}
