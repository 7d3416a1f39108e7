/* SPDX-License-Identifier: BSD-3-Clause */
/* rusage.h - the highest resident memory of this process, as the kernel saw it.
 *
 * Exact, where a sampler misses short peaks, but it covers the whole life of the
 * process unless it is reset. Everyone who looks at VmHWM sees the reset, so it is for
 * those who asked for it. And getrusage(2) has a floor that no reset lowers: a program
 * inherits the mark of the process that started it, so one started by a process of 4 GB
 * reads 4 GB. Only a mark that moved tells about the time between two readings. */
#ifndef ROAST_PROBE_LINUX_RUSAGE_H
#define ROAST_PROBE_LINUX_RUSAGE_H

#include <stdbool.h>
#include <stdint.h>

bool roast__peak_read(uint64_t *peak_bytes);

/* The same after a reset: from /proc/self/status, which is slower, but free of what a
 * program inherits from the larger one that started it. */
bool roast__peak_read_reset(uint64_t *peak_bytes);

/* Lowers the mark to what is resident now, by writing to /proc/self/clear_refs.
 * UNAVAILABLE where that file cannot be written. */
int roast__peak_reset(void);

#endif
