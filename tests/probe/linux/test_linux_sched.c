/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_sched.c - the scheduler's counters against the clocks of this thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "probe/linux/usage.h"
#include "probe/linux_help.h"

enum { SPIN_NS = 200 * 1000 * 1000 };

static void spin_until(int64_t (*clock)(void), int64_t until_ns)
{
    while (clock() < until_ns) {
    }
}

static struct roast_sched read_now(struct roast_procfile *file)
{
    struct roast_sched sched = {0, 0, 0};

    switch_out();
    if (!roast__sched_read(file, &sched))
        skip(); /* a kernel without these counters */
    return sched;
}

static void reads_a_fixture(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    struct roast_sched sched;
    (void)state;

    assert_true(roast__sched_read(&file, &sched));
    assert_int_equal(sched.on_cpu_ns, 8123456789);
    assert_int_equal(sched.runqueue_ns, 12345678);
    assert_int_equal(sched.slices, 4321);
    roast__procfile_close(&file);
}

static void is_absent_where_the_kernel_does_not_count(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_sched sched;
    (void)state;

    assert_false(roast__sched_read(&file, &sched));
    roast__procfile_close(&file);
}

static void time_on_cpu_agrees_with_the_thread_clock(void **state)
{
    struct roast_procfile file = {0};
    (void)state;

    struct roast_sched before = read_now(&file);
    int64_t start_ns = roast__clock_thread_ns();
    spin_until(roast__clock_thread_ns, start_ns + SPIN_NS);
    int64_t clock_ns = roast__clock_thread_ns() - start_ns;
    struct roast_sched after = read_now(&file);

    int64_t on_cpu_ns = (int64_t)(after.on_cpu_ns - before.on_cpu_ns);
    /* the kernel brings these counters up to date once per tick, 10 ms at most */
    assert_in_range(on_cpu_ns, clock_ns - clock_ns / 10, clock_ns + clock_ns / 10);
    assert_true(after.slices > before.slices);
    roast__procfile_close(&file);
}

/* A process that never sleeps, on the core the caller is pinned to. */
static pid_t start_rival(void)
{
    pid_t rival = fork();

    if (rival == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        spin_until(roast__clock_mono_ns, INT64_MAX);
    }
    assert_true(rival > 0);
    return rival;
}

static void stop_rival(pid_t rival)
{
    (void)kill(rival, SIGKILL);
    (void)waitpid(rival, NULL, 0);
}

/* With a rival on the same core a thread that never sleeps either runs or waits for
 * the core; the rival takes a good part of it. */
static void waiting_for_a_core_is_the_time_not_spent_on_it(void **state)
{
    struct roast_procfile file = {0};
    struct roast_sched before = read_now(&file); /* skips before there is a rival */
    struct roast_sched after = before;
    (void)state;

    if (!pin_to_this_cpu())
        skip();
    pid_t rival = start_rival();
    /* the clocks lie around the readings: others may take the core in between */
    int64_t start_ns = roast__clock_mono_ns();
    int64_t start_cpu_ns = roast__clock_thread_ns();
    bool read = roast__sched_read(&file, &before);
    spin_until(roast__clock_mono_ns, start_ns + SPIN_NS);
    read = read && roast__sched_read(&file, &after);
    int64_t cpu_ns = roast__clock_thread_ns() - start_cpu_ns;
    int64_t wall_ns = roast__clock_mono_ns() - start_ns;
    stop_rival(rival);
    roast__procfile_close(&file);

    assert_true(read);
    int64_t waited_ns = (int64_t)(after.runqueue_ns - before.runqueue_ns);
    assert_in_range(waited_ns, wall_ns / 10, wall_ns - cpu_ns + wall_ns / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_fixture),
        cmocka_unit_test(is_absent_where_the_kernel_does_not_count),
        cmocka_unit_test(time_on_cpu_agrees_with_the_thread_clock),
        cmocka_unit_test(waiting_for_a_core_is_the_time_not_spent_on_it), /* pins */
    };
    return cmocka_run_group_tests_name("probe/linux_sched", tests, NULL, NULL);
}
