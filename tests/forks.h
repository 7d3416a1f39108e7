/* SPDX-License-Identifier: BSD-3-Clause */
/* forks.h - for test programs that fork: ThreadSanitizer allows threads in a forked
 * child only when asked, and would wait a second for them when the child ends. */
#ifndef ROAST_TESTS_FORKS_H
#define ROAST_TESTS_FORKS_H

#include <sys/wait.h>
#include <unistd.h>

/* Called by ThreadSanitizer, which must see it. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "die_after_fork=0:atexit_sleep_ms=0";
}

#endif
