/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.c - what this thread, this process and this machine use now.
 *
 * Memory in use is what the kernel cannot reclaim: its own estimate for the machine
 * (MemAvailable); for a control group the charged memory without inactive cached files,
 * as container runtimes count. */
#include "probe/linux/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/linux/cgroup.h"
#include "probe/linux/scan.h"
#include "roast/error.h"
#include "roast/process_tree.h"

enum {
    STATM_BYTES = 160,    /* seven numbers of at most 20 digits */
    SCHEDSTAT_BYTES = 80, /* three */
    IO_BYTES = 512,
    FILE_BYTES = 4096,
    PATH_BYTES = 1024,
    MEMORY_STAT_BYTES = 16384,
};

bool roast__statm_parse(uint64_t *rss_pages, struct roast_str text)
{
    uint64_t size_pages;
    return roast__scan_u64(&size_pages, &text) && roast__scan_u64(rss_pages, &text);
}

bool roast__rss_read(struct roast_procfile *file, uint64_t *rss_bytes)
{
    char buffer[STATM_BYTES];
    struct roast_str text =
        roast__procfile_read(file, "self/statm", buffer, sizeof(buffer));
    uint64_t pages;

    if (!roast__statm_parse(&pages, text))
        return false;
    *rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE); /* no system call in glibc */
    return true;
}

bool roast__procio_parse(struct roast_procio *io, struct roast_str text)
{
    io->has_rchar = roast__scan_find_u64(&io->rchar_bytes, text, "rchar");
    io->has_wchar = roast__scan_find_u64(&io->wchar_bytes, text, "wchar");
    io->has_read_bytes = roast__scan_find_u64(&io->read_bytes, text, "read_bytes");
    io->has_write_bytes = roast__scan_find_u64(&io->write_bytes, text, "write_bytes");
    return io->has_rchar || io->has_wchar || io->has_read_bytes || io->has_write_bytes;
}

bool roast__procio_read(struct roast_procfile *file, struct roast_procio *io)
{
    char buffer[IO_BYTES];

    return roast__procio_parse(
        io, roast__procfile_read(file, "self/io", buffer, sizeof(buffer)));
}

static uint64_t less(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

/* The process is read before its threads, so that what is moved meanwhile is left out. */
bool roast__procio_reaped_read(struct roast_procio *io, const char *proc_root)
{
    const char *root = proc_root ? proc_root : "/proc";
    char buffer[IO_BYTES];
    char path[PATH_BYTES];

    if (!roast__procio_parse(
            io, roast__procfile_read_once(root, "self/io", buffer, sizeof(buffer))))
        return false;
    (void)snprintf(path, sizeof(path), "%s/self/task", root);
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry;
         entry = readdir(dir)) {
        struct roast_procio thread = {0};
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "self/task/%s/io", entry->d_name);
        (void)roast__procio_parse(
            &thread, roast__procfile_read_once(root, path, buffer, sizeof(buffer)));
        io->rchar_bytes = less(io->rchar_bytes, thread.rchar_bytes);
        io->wchar_bytes = less(io->wchar_bytes, thread.wchar_bytes);
        io->read_bytes = less(io->read_bytes, thread.read_bytes);
        io->write_bytes = less(io->write_bytes, thread.write_bytes);
    }
    if (dir)
        (void)closedir(dir);
    return dir != NULL;
}

bool roast__schedstat_parse(struct roast_sched *sched, struct roast_str text)
{
    struct roast_sched read;

    if (!roast__scan_u64(&read.on_cpu_ns, &text) ||
        !roast__scan_u64(&read.runqueue_ns, &text) ||
        !roast__scan_u64(&read.slices, &text) || read.slices == 0)
        return false;
    *sched = read;
    return true;
}

bool roast__sched_read(struct roast_procfile *file, struct roast_sched *sched)
{
    char buffer[SCHEDSTAT_BYTES];

    return roast__schedstat_parse(
        sched,
        roast__procfile_read(file, "thread-self/schedstat", buffer, sizeof(buffer)));
}

/* ---- highest memory ----------------------------------------------------------- */

bool roast__peak_read(uint64_t *peak_bytes)
{
    struct rusage usage;

    if (!ROAST_PROCFS || getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss <= 0)
        return false;
    *peak_bytes = (uint64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
    return true;
}

bool roast__peak_read_reset(uint64_t *peak_bytes)
{
    char buffer[FILE_BYTES];
    struct roast_str text =
        roast__procfile_read_once(NULL, "self/status", buffer, sizeof(buffer));
    struct roast_str line, number;

    if (!roast__scan_find(&line, text, "VmHWM") ||
        !roast__scan_until(&number, &line, 'k') ||
        !roast__scan_u64(peak_bytes, &number))
        return false;
    *peak_bytes *= 1024;
    return true;
}

int roast__peak_reset(void)
{
    int fd = ROAST_PROCFS ? open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC) : -1;
    bool done = fd >= 0 && write(fd, "5", 1) == 1; /* 5: the high-water mark alone */

    if (fd >= 0)
        (void)close(fd);
    return done ? ROAST_OK : ROAST_UNAVAILABLE;
}

/* ---- CPU of this process, memory of this machine ------------------------------ */

static uint64_t cpu_of(int who)
{
    struct rusage usage;

    if (getrusage(who, &usage) != 0)
        return 0; /* cannot happen: every kernel knows both */
    uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    uint64_t us = (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return seconds * 1000000000 + us * 1000;
}

void roast_cpu_used(uint64_t *own_ns, uint64_t *children_ns)
{
    *own_ns = cpu_of(RUSAGE_SELF);
    *children_ns = cpu_of(RUSAGE_CHILDREN);
}

/* What a group uses, without its inactive files. In version 1 the value that includes
 * the groups below, which are charged too, begins with "total_". */
static bool read_group(uint64_t *used_bytes, const struct roast_cgroup *group)
{
    struct roast_procfile file = {0};
    char buffer[MEMORY_STAT_BYTES];
    uint64_t inactive_bytes;
    bool known = roast__cgroup_memory_read(&file, group, used_bytes);

    roast__procfile_close(&file);
    if (!known)
        return false;
    struct roast_str text = roast__procfile_read_once(group->memory_dir, "memory.stat",
                                                      buffer, sizeof(buffer));
    if (!roast__scan_find_u64(&inactive_bytes, text, "total_inactive_file") &&
        !roast__scan_find_u64(&inactive_bytes, text, "inactive_file"))
        inactive_bytes = 0;
    *used_bytes = *used_bytes > inactive_bytes ? *used_bytes - inactive_bytes : 0;
    return true;
}

bool roast__memory_used_percent(const char *proc_root, const char *cgroup_root,
                                double *percent)
{
    char buffer[FILE_BYTES];
    struct roast_str text =
        roast__procfile_read_once(proc_root, "meminfo", buffer, sizeof(buffer));
    uint64_t total_kib, available_kib;
    struct roast_cgroup group;

    if (!roast__scan_find_u64(&total_kib, text, "MemTotal") || total_kib == 0 ||
        !roast__scan_find_u64(&available_kib, text, "MemAvailable") ||
        available_kib > total_kib || total_kib > UINT64_MAX / 1024)
        return false;
    uint64_t used_bytes = (total_kib - available_kib) * 1024;
    uint64_t total_bytes = total_kib * 1024;
    (void)roast__cgroup_find(&group, proc_root, cgroup_root);
    if (group.memory_limited && group.memory_limit_bytes < total_bytes) {
        total_bytes = group.memory_limit_bytes;
        if (total_bytes == 0 || !read_group(&used_bytes, &group))
            return false;
    }
    double ratio = (double)used_bytes / (double)total_bytes;
    *percent = ratio < 1 ? 100 * ratio : 100;
    return true;
}

bool roast_memory_used_percent(const char *proc_root, double *percent)
{
    return roast__memory_used_percent(proc_root, NULL, percent);
}
