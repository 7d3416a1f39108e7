/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.c - what can be measured on this machine.
 *
 * Each check calls the same reader that measures chunks. Without procfs every reader
 * fails, and each check reports it. */
#include "roast/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "probe/linux/cgroup.h"
#include "probe/linux/host.h"
#include "probe/linux/usage.h"
#include "roast/process_tree.h"

enum { TEXT_BYTES = 256, FILE_BYTES = 4096, NUMBER_BYTES = 32 };

struct doctor {
    struct roast_doctor_roots roots;
    roast_doctor_visitor *line;
    void *context;
};

__attribute__((format(printf, 3, 4))) static void report_fact(
    const struct doctor *doctor, const char *name, const char *format, ...)
{
    char text[TEXT_BYTES];
    struct roast_doctor_line line = {ROAST_DOCTOR_FACT, name, text, ""};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    doctor->line(doctor->context, &line);
}

static void report(const struct doctor *doctor, bool works, const char *name,
                   const char *found, const char *lost)
{
    struct roast_doctor_line line = {works ? ROAST_DOCTOR_YES : ROAST_DOCTOR_NO, name,
                                     found, works ? "" : lost};

    doctor->line(doctor->context, &line);
}

/* ---- the host ----------------------------------------------------------------- */

static const char *host_text(const struct roast_host *host, enum roast_host_fact fact)
{
    return roast__host_has(host, fact) ? host->values[fact].text : "unknown";
}

static const char *host_count(char room[NUMBER_BYTES], const struct roast_host *host,
                              enum roast_host_fact fact)
{
    if (!roast__host_has(host, fact))
        return "unknown";
    (void)snprintf(room, NUMBER_BYTES, "%" PRIu64, host->values[fact].u64);
    return room;
}

static void check_host(const struct doctor *doctor)
{
    struct roast_host host;
    char online[NUMBER_BYTES], allowed[NUMBER_BYTES];

    (void)roast__host_read(&host, doctor->roots.proc);
    report_fact(doctor, "kernel", "%s, %s", host_text(&host, ROAST_HOST_kernel),
                host_text(&host, ROAST_HOST_machine));
    report_fact(doctor, "C library", "%s", host_text(&host, ROAST_HOST_libc));
    report_fact(doctor, "processor", "%s", host_text(&host, ROAST_HOST_cpu_model));
    report_fact(doctor, "cores", "%s online, %s allowed",
                host_count(online, &host, ROAST_HOST_cpus_online),
                host_count(allowed, &host, ROAST_HOST_cpus_allowed));
    if (roast__host_has(&host, ROAST_HOST_memory_total_bytes))
        report_fact(doctor, "memory", "%.1f GB",
                    (double)host.values[ROAST_HOST_memory_total_bytes].u64 / 1e9);
    else
        report_fact(doctor, "memory", "unknown");
}

static void check_clock(const struct doctor *doctor)
{
    struct timespec step = {0, 0};
    char name[64];
    struct roast_str source = roast__procfile_read_once(
        doctor->roots.sys,
        "devices/system/clocksource/clocksource0/current_clocksource", name,
        sizeof(name));

    (void)clock_getres(CLOCK_MONOTONIC, &step);
    if (source.data)
        name[strcspn(name, "\n")] = '\0';
    report_fact(doctor, "clock", "monotonic, steps of %ld ns, from %s", step.tv_nsec,
                source.data ? name : "an unknown source");
}

static void report_limit(const struct doctor *doctor, rlim_t limit, const char *name,
                         const char *unit)
{
    if (limit == RLIM_INFINITY)
        report_fact(doctor, name, "no limit");
    else
        report_fact(doctor, name, "at most %" PRIu64 " %s", (uint64_t)limit, unit);
}

static void check_limits(const struct doctor *doctor)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        report_limit(doctor, limit.rlim_cur, "open files", "per process");
    if (getrlimit(RLIMIT_NPROC, &limit) == 0)
        report_limit(doctor, limit.rlim_cur, "processes",
                     "processes and threads of this user");
    if (getrlimit(RLIMIT_AS, &limit) == 0)
        report_limit(doctor, limit.rlim_cur, "address space", "bytes per process");
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0)
        report_limit(doctor, limit.rlim_cur, "file size", "bytes");
}

/* ---- control groups ----------------------------------------------------------- */

static void report_group_limits(const struct doctor *doctor,
                                const struct roast_cgroup *group)
{
    if (group->memory_version == 0)
        report_fact(doctor, "cgroup, memory", "none");
    else if (group->memory_limited)
        report_fact(doctor, "cgroup, memory", "version %d, at most %.1f GB",
                    group->memory_version, (double)group->memory_limit_bytes / 1e9);
    else
        report_fact(doctor, "cgroup, memory", "version %d, no limit",
                    group->memory_version);
    if (group->cpu_version == 0)
        report_fact(doctor, "cgroup, CPU", "none");
    else if (group->cpu_limited)
        report_fact(doctor, "cgroup, CPU", "version %d, at most %.2f cores",
                    group->cpu_version, (double)group->cpu_limit_millicores / 1000);
    else
        report_fact(doctor, "cgroup, CPU", "version %d, no limit", group->cpu_version);
}

static void check_groups(const struct doctor *doctor)
{
    struct roast_cgroup group;
    struct roast_procfile files[3] = {{0}, {0}, {0}};
    struct roast_throttle throttle;
    uint64_t number;
    bool memory, cpu;

    (void)roast__cgroup_find(&group, doctor->roots.proc, doctor->roots.cgroup);
    report_group_limits(doctor, &group);
    memory = group.memory_version > 0;
    cpu = group.cpu_version > 0;
    if (cpu)
        report(doctor, roast__throttle_read(&files[0], &group, &throttle), "throttling",
               group.cpu_dir, "time that the CPU quota took away");
    if (memory)
        report(doctor, roast__cgroup_memory_read(&files[1], &group, &number),
               "memory of the group", group.memory_dir, "how near its limit it came");
    if (memory)
        report(doctor, roast__cgroup_oom_kills_read(&files[2], &group, &number),
               "kills for memory", group.memory_dir,
               "whether the kernel killed workers");
    for (size_t i = 0; i < 3; i++)
        roast__procfile_close(&files[i]);
}

/* ---- this process ------------------------------------------------------------- */

static bool can_find_tree(const struct doctor *doctor)
{
    roast_process_tree *tree = NULL;
    int status = roast_process_tree_new(&tree, doctor->roots.proc, 0, NULL);

    roast_process_tree_free(tree);
    return status == ROAST_OK;
}

static bool can_write(const char *root, const char *name)
{
    char path[TEXT_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", root ? root : "/proc", name);
    return access(path, W_OK) == 0;
}

static void check_process(const struct doctor *doctor)
{
    const char *proc = doctor->roots.proc;
    struct roast_procfile files[3] = {{.root = proc}, {.root = proc}, {.root = proc}};
    struct roast_sched sched;
    struct roast_procio io;
    uint64_t rss_bytes;

    report(doctor, roast__rss_read(&files[0], &rss_bytes), "memory of processes",
           "/proc/self/statm", "memory of chunks and workers");
    report(doctor, can_write(proc, "self/clear_refs"), "exact peak of memory",
           "/proc/self/clear_refs", "peaks of memory between two samples");
    report(doctor, roast__sched_read(&files[1], &sched), "waiting for a core",
           "/proc/thread-self/schedstat", "time that chunks waited for a core");
    report(doctor, roast__procio_read(&files[2], &io), "bytes from storage",
           "/proc/self/io", "what processes read and wrote");
    report(doctor, can_find_tree(doctor), "worker processes", "/proc/PID/stat",
           "CPU and memory of local workers");
    for (size_t i = 0; i < 3; i++)
        roast__procfile_close(&files[i]);
}

/* ---- the disk ----------------------------------------------------------------- */

/* Whether a file can be created, written and synced in the folder. */
static bool can_sync(const char *folder)
{
    char path[FILE_BYTES];
    int size = snprintf(path, sizeof(path), "%s/roast-doctor-XXXXXX", folder);
    bool works = false;

    if (size < 0 || (size_t)size >= sizeof(path))
        return false;
    int fd = mkstemp(path);
    if (fd < 0)
        return false;
    works = write(fd, "roast\n", 6) == 6 && fdatasync(fd) == 0;
    (void)close(fd);
    (void)unlink(path);
    return works;
}

void roast_doctor(const struct roast_doctor_roots *roots, roast_doctor_visitor *line,
                  void *context)
{
    struct doctor doctor = {.line = line, .context = context};

    if (roots)
        doctor.roots = *roots;
    if (!doctor.roots.sys)
        doctor.roots.sys = "/sys";
    if (!doctor.roots.scratch)
        doctor.roots.scratch = "/tmp";
    check_host(&doctor);
    check_clock(&doctor);
    check_groups(&doctor);
    check_process(&doctor);
    check_limits(&doctor);
    report(&doctor, can_sync(doctor.roots.scratch), "files that outlive a crash",
           doctor.roots.scratch, "what a run measured before a crash");
}
