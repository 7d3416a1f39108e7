/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scheduler_sums.c - activities and profile lines of a cluster. */
#include <math.h>

#include "heap.h"
#include "scheduler_events.h"

static void a_later_value_takes_the_place_of_an_earlier_one(void **state)
{
    roast_run *run = new_run();
    const struct roast_scheduler_view *view = &run->scheduler;
    (void)state;

    assert_int_equal(set_activity(run, "process", "thread-cpu", 1), ROAST_OK);
    assert_int_equal(set_activity(run, NULL, "thread-cpu", 2), ROAST_OK);
    assert_int_equal(set_activity(run, "process", "thread-cpu", 3.5), ROAST_OK);
    assert_int_equal(view->activity_count, 2);
    assert_true(view->activities[0].value == 3.5);
    assert_text(run, view->activities[0].context, "execute");
    assert_text(run, view->activities[0].prefix, "process");
    assert_text(run, view->activities[0].activity, "thread-cpu");
    assert_text(run, view->activities[0].unit, "seconds");
    assert_int_equal(view->activities[1].prefix, ROAST_NO_STRING);
    roast_run_free(run);
}

static void lines_of_one_place_add_up(void **state)
{
    roast_run *run = new_run();
    const struct roast_scheduler_view *view = &run->scheduler;
    (void)state;

    assert_int_equal(add_hot_line(run, 10, NULL, 1), ROAST_OK);
    assert_int_equal(add_hot_line(run, 11, "y = 2", 4), ROAST_OK);
    assert_int_equal(add_hot_line(run, 10, "token = 'secret'", 2), ROAST_OK);
    assert_int_equal(view->hot_count, 2);
    assert_true(view->hot[0].seconds == 3);
    assert_true(view->hot[0].self_seconds == 1.5);
    assert_int_equal(view->hot[0].line, 10);
    assert_text(run, view->hot[0].file, "analysis.py");
    assert_text(run, view->hot[0].function, "process");
    assert_null(memmem(run->strings.bytes, run->strings.bytes_used, "secret", 6));
    assert_true(view->hot[0].text >= 0);
    roast_run_free(run);
}

static void what_is_no_number_is_counted(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(set_activity(run, "p", "a", (double)NAN), ROAST_OK);
    assert_int_equal(add_hot_line(run, 1, "x", (double)INFINITY), ROAST_OK);
    assert_int_equal(run->scheduler.activity_count + run->scheduler.hot_count, 0);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_unread), 2);
    roast_run_free(run);
}

static void both_have_limits(void **state)
{
    roast_run *run = new_run();
    char name[16];
    (void)state;

    for (int i = 0; i <= ROAST_MOST_ACTIVITIES; i++) {
        (void)snprintf(name, sizeof(name), "a%d", i);
        assert_int_equal(set_activity(run, "p", name, i), ROAST_OK);
    }
    for (uint64_t i = 0; i <= ROAST_MOST_HOT_LINES; i++)
        assert_int_equal(add_hot_line(run, i, "x", 1), ROAST_OK);
    assert_int_equal(set_activity(run, "p", "a7", 70), ROAST_OK); /* known */
    assert_int_equal(add_hot_line(run, 7, "x", 1), ROAST_OK);
    assert_int_equal(run->scheduler.activity_count, ROAST_MOST_ACTIVITIES);
    assert_int_equal(run->scheduler.hot_count, ROAST_MOST_HOT_LINES);
    assert_true(run->scheduler.activities[7].value == 70);
    assert_true(run->scheduler.hot[7].seconds == 2);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_over_limit), 2);
    roast_run_free(run);
}

/* ---- without memory -------------------------------------------------------------- */

static int change(roast_run *run, uint64_t i)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "n%d", (int)i);
    switch (i % 3) {
    case 0:
        return set_activity(run, name, name, 1);
    case 1:
        return add_hot_line(run, i, name, 1);
    default:
        return set_offset(run, name, 5);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;

    test_heap_install();
    for (size_t n = 1; n < 8; n++) {
        roast_run *run = new_run();
        for (uint64_t i = 0; i < 300; i++) {
            test_heap_fail(n, false);
            int status = change(run, i);
            bool failed = test_heap_failed();
            test_heap_fail(0, false);
            assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
            if (failed)
                assert_int_equal(change(run, i), ROAST_OK);
        }
        assert_int_equal(run->scheduler.activity_count, 100);
        assert_int_equal(run->scheduler.hot_count, 100);
        assert_true(run->scheduler.hot[99].seconds == 1);
        assert_int_equal(run->scheduler.clock_offsets.count, 100);
        roast_run_free(run);
    }
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_value_takes_the_place_of_an_earlier_one),
        cmocka_unit_test(lines_of_one_place_add_up),
        cmocka_unit_test(what_is_no_number_is_counted),
        cmocka_unit_test(both_have_limits),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
