/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_wait.h - what a thread of this process waits for at this moment.
 *
 * The kernel prints the system call in which a thread is blocked. A futex has an address,
 * which says whose lock it is. */
#ifndef ROAST_PROBE_LINUX_THREAD_WAIT_H
#define ROAST_PROBE_LINUX_THREAD_WAIT_H

#include <stdint.h>

#include "roast/text.h"

enum roast_thread_wait {
    ROAST_WAIT_UNKNOWN, /* cannot be read */
    ROAST_WAIT_OTHER,   /* it runs, or waits for something else */
    ROAST_WAIT_FUTEX,
};

/* Of a thread of this process, from root/self/task/<tid>/syscall (root NULL: "/proc").
 * *address is set for a futex. */
enum roast_thread_wait roast__thread_wait_read(uint64_t *address, const char *root,
                                               uint64_t tid);

#endif
