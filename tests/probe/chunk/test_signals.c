/* SPDX-License-Identifier: BSD-3-Clause */
/* test_signals.c - signals wait while they are held, pass otherwise, and the handlers are
 * those of before afterwards, whatever other code does meanwhile. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "forks.h"
#include "roast/signals.h"

static volatile sig_atomic_t handled; /* signals that the handler got */

static void count(int number)
{
    (void)number;
    handled++;
}

static void count_more(int number)
{
    (void)number;
    handled += 100;
}

static bool covers(const struct sigaction *action)
{
    return action->sa_handler == count;
}

static void install(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;

    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

static const int numbers[] = {SIGINT, SIGUSR1, SIGUSR2};

static int setup(void **state)
{
    (void)state;
    handled = 0;
    install(SIGINT, count);
    install(SIGUSR1, count);
    install(SIGUSR2, SIG_IGN);
    roast_signals_init((uint64_t)pthread_self());
    assert_int_equal(roast_signals_enter(), 1);
    roast_signals_cover(numbers, COUNT_OF(numbers), covers);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_false(roast_signals_are_entered());
    assert_true(handler_of(SIGINT) == count);
    return 0;
}

static void test_signals_pass_between_steps(void **state)
{
    (void)state;
    assert_true(roast_signals_are_entered());
    assert_true(handler_of(SIGUSR1) != count);
    (void)raise(SIGUSR1);
    assert_int_equal(handled, 1);
    roast_signals_leave();
    assert_true(handler_of(SIGUSR1) == count);
    (void)raise(SIGUSR1);
    assert_int_equal(handled, 2);
}

static void test_signals_wait_for_the_last_release(void **state)
{
    int came[ROAST_SIGNALS];

    (void)state;
    roast_signals_hold();
    roast_signals_hold();
    (void)raise(SIGUSR1);
    (void)raise(SIGUSR1); /* they are merged, as pending ones are */
    assert_int_equal(handled, 0);
    assert_int_equal(roast_signals_release(came), 0);
    assert_int_equal(roast_signals_release(came), 1);
    assert_int_equal(came[0], SIGUSR1);
    assert_int_equal(handled, 0); /* the caller raises it */
    assert_int_equal(roast_signals_release(came), 0);
    roast_signals_leave();
}

static void test_third_ctrl_c_does_not_wait(void **state)
{
    int came[ROAST_SIGNALS];

    (void)state;
    roast_signals_hold();
    (void)raise(SIGUSR1);
    assert_false(roast_signals_ctrl_c_waits());
    (void)raise(SIGINT);
    assert_true(roast_signals_ctrl_c_waits());
    (void)raise(SIGINT);
    assert_int_equal(handled, 0);
    (void)raise(SIGINT);
    assert_int_equal(handled, 1);
    assert_false(roast_signals_ctrl_c_waits());
    assert_int_equal(roast_signals_release(came), 1);
    assert_int_equal(came[0], SIGUSR1);
    roast_signals_leave();
}

static void test_calls_nest(void **state)
{
    (void)state;
    assert_int_equal(roast_signals_enter(), 2);
    roast_signals_leave();
    assert_true(handler_of(SIGINT) != count);
    roast_signals_leave();
    assert_true(handler_of(SIGINT) == count);
}

static void test_other_handlers_are_left_alone(void **state)
{
    (void)state;
    assert_true(handler_of(SIGUSR2) == SIG_IGN);
    install(SIGUSR1, count_more); /* meanwhile, by other code */
    roast_signals_cover(numbers, COUNT_OF(numbers), covers);
    (void)raise(SIGUSR1);
    assert_int_equal(handled, 100);
    roast_signals_leave();
    assert_true(handler_of(SIGUSR1) == count_more);
}

static void test_changed_restarting_stays(void **state)
{
    struct sigaction action;

    (void)state;
    assert_int_equal(sigaction(SIGUSR1, NULL, &action), 0);
    action.sa_flags |= SA_RESTART; /* as siginterrupt() does */
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    roast_signals_leave();
    assert_int_equal(sigaction(SIGUSR1, NULL, &action), 0);
    assert_true(action.sa_handler == count);
    assert_int_equal(action.sa_flags & SA_RESTART, SA_RESTART);
}

static int look_in_child(void *context)
{
    int came[ROAST_SIGNALS];

    (void)context;
    MUST(handler_of(SIGINT) == count);
    MUST(!roast_signals_are_entered());
    MUST(!roast_signals_ctrl_c_waits());
    MUST(roast_signals_release(came) == 0);
    /* of the parent's call, in the copy of its stack */
    roast_signals_cover(numbers, COUNT_OF(numbers), covers);
    roast_signals_leave();
    MUST(handler_of(SIGINT) == count);
    MUST(roast_signals_enter() == 1);
    roast_signals_leave();
    return 0;
}

static void test_child_starts_without(void **state)
{
    int came[ROAST_SIGNALS];

    (void)state;
    roast_signals_hold();
    (void)raise(SIGINT);
    assert_holds_in_child(look_in_child, NULL);
    assert_int_equal(roast_signals_release(came), 1);
    roast_signals_leave();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_signals_pass_between_steps),
        TEST(test_signals_wait_for_the_last_release),
        TEST(test_third_ctrl_c_does_not_wait),
        TEST(test_calls_nest),
        TEST(test_other_handlers_are_left_alone),
        TEST(test_changed_restarting_stays),
        TEST(test_child_starts_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
