/* SPDX-License-Identifier: BSD-3-Clause */
/* forks.h - for test programs that fork: ThreadSanitizer allows threads in a forked
 * child only when asked, and would wait a second for them when the child ends. */
#ifndef ROAST_TESTS_FORKS_H
#define ROAST_TESTS_FORKS_H

#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* Called by ThreadSanitizer, which must see it. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "die_after_fork=0:atexit_sleep_ms=0";
}

/* The line of the first condition that does not hold, as a child's answer. */
#define MUST(condition) \
    if (!(condition)) \
    return __LINE__

/* Runs work in a forked child; fails with the line that did not hold there. */
static inline void assert_holds_in_child(int (*work)(void *context), void *context)
{
    int answer[2];
    int line = -1;

    assert_int_equal(pipe(answer), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(answer[1], STDIN_FILENO); /* out of the way of who closes all */
        line = work(context);
        _exit(write(STDIN_FILENO, &line, sizeof(line)) == sizeof(line) ? 0 : 1);
    }
    (void)close(answer[1]);
    assert_int_equal(read(answer[0], &line, sizeof(line)), sizeof(line));
    (void)close(answer[0]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    if (line != 0)
        fail_msg("line %d does not hold in the child", line);
}

#endif
