/* SPDX-License-Identifier: BSD-3-Clause */
/* linux_help.h - what several tests of the Linux readers need: resident memory, a
 * forked child, one core, a forced thread switch. */
#ifndef ROAST_TESTS_PROBE_LINUX_HELP_H
#define ROAST_TESTS_PROBE_LINUX_HELP_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAPPED_BYTES = 64 * 1024 * 1024 };

/* Maps MAPPED_BYTES, all of them resident. A plain system call that makes the kernel
 * touch the pages: the shadow memory of a sanitizer would be resident too. NULL when
 * the system refuses. */
static inline void *map_resident(void)
{
    long at = syscall(SYS_mmap, NULL, (size_t)MAPPED_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0L);
    return at == -1 ? NULL : (void *)at;
}

static inline void unmap_resident(void *memory)
{
    (void)syscall(SYS_munmap, memory, (size_t)MAPPED_BYTES);
}

/* Whether a growth is MAPPED_BYTES within 5 %. */
static inline bool is_mapped_growth(uint64_t before_bytes, uint64_t after_bytes)
{
    uint64_t grown = after_bytes - before_bytes;
    return grown > MAPPED_BYTES / 100 * 95 && grown < MAPPED_BYTES / 100 * 105;
}

/* The result of `work` in a forked child. */
static inline bool holds_in_child(bool (*work)(void *context), void *context)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(work(context) ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Pins the calling thread to its current core. */
static inline bool pin_to_this_cpu(void)
{
    cpu_set_t one;
    int cpu = sched_getcpu();

    CPU_ZERO(&one);
    if (cpu >= 0)
        CPU_SET((size_t)cpu, &one);
    return cpu >= 0 && sched_setaffinity(0, sizeof(one), &one) == 0;
}

/* Yields the core, so that the kernel updates its counters. */
static inline void switch_out(void)
{
    const struct timespec moment = {0, 1};
    (void)nanosleep(&moment, NULL);
}

#endif
