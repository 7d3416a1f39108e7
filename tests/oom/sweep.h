/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h - fails the n-th allocation of something, n = 1, 2, 3 ... until there is none
 * left to fail; once, and from then on. No crash, no leak, the documented status, and
 * what is delivered all the same is whole. Each try runs in a forked child and there on
 * a thread of its own: so every one is the first chunk of a process, and its state goes
 * with the thread and can be counted. */
#ifndef ROAST_TESTS_OOM_SWEEP_H
#define ROAST_TESTS_OOM_SWEEP_H

#include <pthread.h>

#include "forks.h"
#include "heap.h"
#include "probe/chunk_help.h"

enum { MOST_ALLOCATIONS = 100 };
enum answer { FINE, WRONG, LEAKED, CRASHED, NOTHING_FAILED };

static const char *const words[] = {"fine", "wrong", "leaked", "crashed", "nothing"};

/* One thing to try: true if everything it was told was true. Failing to allocate is not
 * a mistake, to hide it is. */
typedef bool attempt(void);

static inline void *try_once(void *context)
{
    attempt *try = *(attempt **)context;
    return try() ? context : NULL;
}

/* What a child answers, if it does not crash. */
static inline enum answer try_in_thread(attempt *try, size_t n, bool from_then_on)
{
    pthread_t thread;
    void *right = NULL;

    test_heap_install();
    test_heap_fail(n, from_then_on);
    if (pthread_create(&thread, NULL, try_once, &try) != 0 ||
        pthread_join(thread, &right) != 0 || !right)
        return WRONG;
    if (test_heap.live_blocks > 0)
        return LEAKED;
    return test_heap_failed() ? FINE : NOTHING_FAILED;
}

static inline enum answer try_in_child(attempt *try, size_t n, bool from_then_on)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit((int)try_in_thread(try, n, from_then_on));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > NOTHING_FAILED)
        return CRASHED;
    return (enum answer)WEXITSTATUS(status);
}

/* Returns how many allocations were failed one after the other. */
static inline size_t sweep(attempt *try, bool from_then_on)
{
    for (size_t n = 1; n < MOST_ALLOCATIONS; n++) {
        enum answer answer = try_in_child(try, n, from_then_on);
        if (answer == NOTHING_FAILED)
            return n - 1;
        if (answer != FINE)
            fail_msg("allocation %zu%s: %s", n, from_then_on ? " and all after it" : "",
                     words[answer]);
    }
    fail_msg("no end after %d allocations", MOST_ALLOCATIONS);
    return 0;
}

static inline void sweep_both(attempt *try, size_t least)
{
    assert_true(sweep(try, false) >= least);
    assert_true(sweep(try, true) >= least);
}

#endif
