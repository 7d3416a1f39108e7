/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.h - what this thread, this process and this machine use now.
 *
 * A reader with a roast_procfile keeps its file open between two readings; the others
 * are rare. Each returns false, with its result unchanged, where the value is not
 * known. */
#ifndef ROAST_PROBE_LINUX_USAGE_H
#define ROAST_PROBE_LINUX_USAGE_H

#include <stdint.h>

#include "probe/linux/procfile.h"

/* Resident memory of this process, from /proc/self/statm: the only such file whose cost
 * does not grow with the number of mappings. Newer kernels count per CPU and sum up
 * lazily: the value may be off by some hundred KiB on machines with many cores. */
bool roast__rss_read(struct roast_procfile *file, uint64_t *rss_bytes);

/* Bytes that all threads of a process have moved since it began. The characters are what
 * system calls moved, from the page cache or a socket read with read(2) too, but not
 * through recv(2) or mmap(2); the bytes are what storage delivered. A line that the
 * kernel did not print leaves its value absent. */
struct roast_procio {
    bool has_rchar;
    bool has_wchar;
    bool has_read_bytes;
    bool has_write_bytes;
    uint64_t rchar_bytes;
    uint64_t wchar_bytes;
    uint64_t read_bytes;
    uint64_t write_bytes;
};

/* Of this process, from /proc/self/io. Each reading adds about 100 characters itself.
 * False when not one value could be read. */
bool roast__procio_read(struct roast_procfile *file, struct roast_procio *io);

/* Of the children that this process has waited for, and of theirs: the kernel adds their
 * bytes to root/self/io and to the file of no thread. Those of threads that have ended
 * would count too: it is for processes whose threads stay. Fails as the reading above. */
bool roast__procio_reaped_read(struct roast_procio *io, const char *proc_root);

/* How long this thread ran, and how long it waited for a core. The kernel updates
 * on_cpu_ns at ticks and switches only: it may be one tick (1-10 ms) wrong. CPU time comes
 * from the thread's clock; this is for the run queue. */
struct roast_sched {
    uint64_t on_cpu_ns;
    uint64_t runqueue_ns; /* ready to run, but another thread had the core */
    uint64_t slices;      /* times it was given a core */
};

/* From /proc/thread-self/schedstat: the file belongs to the thread that read it first. */
bool roast__sched_read(struct roast_procfile *file, struct roast_sched *sched);

/* The highest resident memory of this process, by getrusage(2). Exact, while a sampler
 * misses short peaks, but it covers the whole life of the process. A program inherits
 * the mark of the process that started it, and no reset lowers that: only a mark that
 * rose between two readings describes the time between them. */
bool roast__peak_read(uint64_t *peak_bytes);

/* The same after a reset: from /proc/self/status, which is slower, but free of what a
 * program inherits from the larger one that started it. */
bool roast__peak_read_reset(uint64_t *peak_bytes);

/* Lowers the mark to what is resident now, by writing to /proc/self/clear_refs. The whole
 * process sees the reset, so it is done on request only. UNAVAILABLE where that file
 * cannot be written. */
int roast__peak_reset(void);

/* roast_memory_used_percent() with the root of the control groups. */
bool roast__memory_used_percent(const char *proc_root, const char *cgroup_root,
                                double *percent);

/* ---- parsers ------------------------------------------------------------------ */

/* The second number of a statm file, in pages. */
bool roast__statm_parse(uint64_t *rss_pages, struct roast_str text);

/* An io file: lines in any order, unknown ones are skipped. False when none is known. */
bool roast__procio_parse(struct roast_procio *io, struct roast_str text);

/* A schedstat file. False for "0 0 0" too: a kernel built without these counters prints
 * that, and a thread that runs has been given a core at least once. */
bool roast__schedstat_parse(struct roast_sched *sched, struct roast_str text);

#endif
