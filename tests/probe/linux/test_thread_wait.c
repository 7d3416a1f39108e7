/* SPDX-License-Identifier: BSD-3-Clause */
/* test_thread_wait.c - what a thread waits for: lines of the kernel, and a real thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/linux/thread_wait.h"

static enum roast_thread_wait wait_of(uint64_t tid, uint64_t *address)
{
    return roast__thread_wait_read(address, ROAST_FIXTURES "/proc/typical", tid);
}

static void test_lines_of_the_kernel(void **state)
{
    uint64_t address = 1;

    (void)state;
    if (!ROAST_PROCFS)
        skip();
    assert_int_equal(wait_of(70, &address), ROAST_WAIT_OTHER); /* it runs */
    assert_int_equal(wait_of(72, &address), ROAST_WAIT_OTHER); /* it sleeps */
    assert_int_equal(wait_of(73, &address), ROAST_WAIT_OTHER); /* in no call */
    assert_int_equal(wait_of(99, &address), ROAST_WAIT_UNKNOWN);
    assert_int_equal(address, 1);
    if (SYS_futex != 202)
        return; /* the fixture is of x86_64 */
    assert_int_equal(wait_of(71, &address), ROAST_WAIT_FUTEX);
    assert_int_equal(address, 0x7f01a0b0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic uint64_t waiter;
static bool may_go;

static void *wait_for_change(void *unused)
{
    (void)pthread_mutex_lock(&lock);
    atomic_store(&waiter, (uint64_t)syscall(SYS_gettid));
    while (!may_go)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    return unused;
}

static void test_a_thread_that_waits_for_a_condition(void **state)
{
    uint64_t address = 0;
    pthread_t thread;

    (void)state;
    if (roast__thread_wait_read(&address, NULL, (uint64_t)syscall(SYS_gettid)) ==
        ROAST_WAIT_UNKNOWN)
        skip(); /* this system does not print it */
    assert_int_equal(pthread_create(&thread, NULL, wait_for_change, NULL), 0);
    while (atomic_load(&waiter) == 0 ||
           roast__thread_wait_read(&address, NULL, atomic_load(&waiter)) !=
               ROAST_WAIT_FUTEX)
        (void)sched_yield();
    assert_in_range(address, (uintptr_t)&changed, (uintptr_t)(&changed + 1) - 1);
    (void)pthread_mutex_lock(&lock);
    may_go = true;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_the_kernel),
        cmocka_unit_test(test_a_thread_that_waits_for_a_condition),
    };

    return cmocka_run_group_tests_name("thread_wait", tests, NULL, NULL);
}
