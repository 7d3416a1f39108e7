/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the three clocks, in nanoseconds.
 *
 * Durations come from the monotonic clock only; the realtime clock is read with it once
 * per chunk, as an anchor. Thread CPU is a system call (about 200 ns): per chunk, not
 * per section. */
#ifndef ROAST_BASE_CLOCK_H
#define ROAST_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t roast__clock_ns(clockid_t id)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(id, &now); /* these clocks exist wherever POSIX does */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t roast__clock_mono_ns(void)
{
    return roast__clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t roast__clock_epoch_ns(void)
{
    return roast__clock_ns(CLOCK_REALTIME);
}

static inline int64_t roast__clock_thread_ns(void)
{
    return roast__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
