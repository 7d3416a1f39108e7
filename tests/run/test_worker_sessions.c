/* SPDX-License-Identifier: BSD-3-Clause */
/* test_worker_sessions.c - workers that join and leave, and the resulting offers. */
#include "heap.h"
#include "scheduler_events.h"

static const struct roast_worker_session *session(const roast_run *run, size_t i)
{
    assert_true(i < run->scheduler.sessions.count);
    return &run->scheduler.sessions.items[i];
}

/* The offers as {second, workers, threads}. */
static void assert_offers(const roast_run *run, const int64_t (*expected)[3],
                          size_t count)
{
    assert_int_equal(run->offer_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(run->offers[i].time_ns, second(expected[i][0]));
        assert_int_equal(run->offers[i].workers, expected[i][1]);
        assert_int_equal(run->offers[i].threads, expected[i][2]);
    }
}

#define ASSERT_OFFERS(run, ...) \
    do { \
        const int64_t offers[][3] = {__VA_ARGS__}; \
        assert_offers((run), offers, sizeof(offers) / sizeof(offers[0])); \
    } while (0)

static void joins_and_leaves_are_steps_of_the_offer(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "a", 0, 4);
    joins(run, "b", 2, 8);
    leaves(run, "a", 5);
    joins(run, "c", 5, 1);
    leaves(run, "b", 9);
    ASSERT_OFFERS(run, {0, 1, 4}, {2, 2, 12}, {5, 2, 9}, {9, 1, 1});
    assert_int_equal(session(run, 0)->left_ns, second(5));
    assert_int_equal(session(run, 2)->left_ns, 0);
    roast_run_free(run);
}

static void a_session_keeps_its_fields(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(join_as(run, "tcp://10.0.0.7:1", 1, 4, 77), ROAST_OK);
    assert_int_equal(leave_as(run, "tcp://10.0.0.7:1", 3, "exceeded memory"), ROAST_OK);
    const struct roast_worker_session *it = session(run, 0);
    assert_text(run, it->worker, "tcp://10.0.0.7:1");
    assert_text(run, it->name, "its name");
    assert_text(run, it->host, "10.0.0.7");
    assert_text(run, it->reason, "exceeded memory");
    assert_int_equal(it->joined_ns, second(1));
    assert_int_equal(it->left_ns, second(3));
    assert_int_equal(it->pid, 77);
    assert_int_equal(it->threads, 4);
    assert_int_equal(it->memory_limit_bytes, 1000);
    assert_false(it->expected);
    ASSERT_OFFERS(run, {0, 0, 0}, {1, 1, 4}, {3, 0, 0});
    roast_run_free(run);
}

static void who_was_there_before_joins_at_the_start(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "a", -100, 2);
    joins(run, "b", -5, 3);
    joins(run, "c", 0, 4);
    leaves(run, "a", -1);
    ASSERT_OFFERS(run, {0, 2, 7});
    assert_int_equal(session(run, 0)->joined_ns, EPOCH_0);
    assert_int_equal(session(run, 0)->left_ns, EPOCH_0);
    roast_run_free(run);
}

static void news_out_of_order_gives_the_same_sums(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "c", 7, 1);
    joins(run, "a", 1, 4);
    joins(run, "b", 3, 8);
    leaves(run, "c", 9);
    leaves(run, "a", 5);
    ASSERT_OFFERS(run, {0, 0, 0}, {1, 1, 4}, {3, 2, 12}, {5, 1, 8}, {7, 2, 9},
                  {9, 1, 8});
    roast_run_free(run);
}

static void a_worker_that_comes_back_has_two_sessions(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "a", 0, 4);
    leaves(run, "a", 2);
    joins(run, "a", 3, 2);
    leaves(run, "a", 3); /* the shortest session */
    joins(run, "a", 4, 1);
    ASSERT_OFFERS(run, {0, 1, 4}, {2, 0, 0}, {3, 0, 0}, {4, 1, 1});
    assert_int_equal(run->scheduler.sessions.count, 3);
    assert_int_equal(session(run, 1)->left_ns, second(3));
    assert_ptr_equal(
        roast__latest_session(&run->scheduler.sessions, session(run, 0)->worker),
        session(run, 2));
    roast_run_free(run);
}

/* Its leave may have been dropped: another process joined at the same address. */
static void a_second_join_implies_a_leave(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(join_as(run, "a", 0, 4, 11), ROAST_OK);
    assert_int_equal(join_as(run, "a", 6, 4, 12), ROAST_OK);
    assert_int_equal(session(run, 0)->left_ns, second(6));
    assert_false(session(run, 0)->expected);
    assert_int_equal(session(run, 0)->reason, ROAST_NO_STRING);
    ASSERT_OFFERS(run, {0, 1, 4}, {6, 1, 4});
    roast_run_free(run);
}

static void a_worker_reported_twice_is_counted_once(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(join_as(run, "a", 1, 4, 11), ROAST_OK);
    assert_int_equal(join_as(run, "a", 2, 4, 11), ROAST_OK);
    joins(run, "b", 1, 1);
    joins(run, "b", 1, 1);
    assert_int_equal(run->scheduler.sessions.count, 2);
    ASSERT_OFFERS(run, {0, 0, 0}, {1, 2, 5});
    roast_run_free(run);
}

static void who_never_joined_cannot_leave(void **state)
{
    roast_run *run = new_run();
    (void)state;

    leaves(run, "a", 1);
    joins(run, "b", 0, 1);
    leaves(run, "b", 2);
    leaves(run, "b", 3);
    ASSERT_OFFERS(run, {0, 1, 1}, {2, 0, 0});
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_unread), 2);
    roast_run_free(run);
}

static void times_that_make_no_sense_do_no_harm(void **state)
{
    roast_run *run = new_run();
    struct roast_departure gone = {.worker = roast_str_of("a"), .left_ns = INT64_MIN};
    (void)state;

    joins(run, "a", 5, UINT64_MAX);
    joins(run, "b", 5, UINT64_MAX);
    assert_int_equal(roast_run_member_left(run, &gone, NULL), ROAST_OK);
    ASSERT_OFFERS(run, {0, 0, 0}, {5, 1, 0});
    assert_int_equal(session(run, 0)->left_ns, second(5));
    roast_run_free(run);
}

static void nothing_secret_is_kept(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "tcp://me:secret@10.0.0.7:1", 0, 1);
    assert_int_equal(
        leave_as(run, "tcp://me:secret@10.0.0.7:1", 1, "login password=hunter2 failed"),
        ROAST_OK);
    assert_text(run, session(run, 0)->worker, "tcp://***@10.0.0.7:1");
    assert_text(run, session(run, 0)->reason, "login password=*** failed");
    assert_int_equal(session(run, 0)->left_ns, second(1));
    assert_null(memmem(run->strings.bytes, run->strings.bytes_used, "secret", 6));
    roast_run_free(run);
}

static void long_texts_are_cut(void **state)
{
    roast_run *run = new_run();
    static char reason[5000];
    (void)state;

    memset(reason, 'x', sizeof(reason) - 1);
    joins(run, "a", 0, 1);
    assert_int_equal(leave_as(run, "a", 1, reason), ROAST_OK);
    assert_int_equal(
        roast__strings_get(&run->strings, session(run, 0)->reason).size_bytes, 1024);
    roast_run_free(run);
}

/* ---- many ------------------------------------------------------------------------ */

static void ten_thousand_workers_are_one_step(void **state)
{
    roast_run *run = new_run();
    char name[32];
    (void)state;

    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof(name), "tcp://w:%d", i);
        joins(run, name, -1, 2);
    }
    ASSERT_OFFERS(run, {0, 10000, 20000});
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof(name), "tcp://w:%d", i);
        leaves(run, name, 1 + i);
    }
    assert_int_equal(run->offer_count, 10001);
    assert_int_equal(run->offers[10000].workers, 0);
    assert_int_equal(run->offers[5000].threads, 10000);
    roast_run_free(run);
}

static void sessions_above_the_limit_are_counted(void **state)
{
    roast_run *run = new_run();
    (void)state;

    for (int64_t i = 0; i < ROAST_MOST_SESSIONS; i++) {
        joins(run, "a", i, 1);
        leaves(run, "a", i);
    }
    joins(run, "b", ROAST_MOST_SESSIONS, 1);
    assert_int_equal(run->scheduler.sessions.count, ROAST_MOST_SESSIONS);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_over_limit), 1);
    assert_int_equal(run->offers[run->offer_count - 1].workers, 0);
    roast_run_free(run);
}

/* ---- without memory -------------------------------------------------------------- */

/* A failure changes nothing, so that repeating the call gives the same result. */
static bool step_survives(size_t n)
{
    roast_run *run = new_run();

    for (int64_t i = 0; i < 40; i++) {
        char name[] = "a";
        name[0] = (char)('a' + i % 8);
        test_heap_fail(n, false);
        bool comes = i / 8 % 2 == 0;
        int status = comes ? join_as(run, name, i, 2, 0) : leave_as(run, name, i, "x");
        bool failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
        if (failed)
            assert_int_equal(comes ? join_as(run, name, i, 2, 0)
                                   : leave_as(run, name, i, "x"),
                             ROAST_OK);
    }
    assert_int_equal(run->scheduler.sessions.count, 24);
    assert_int_equal(run->offers[run->offer_count - 1].workers, 8);
    assert_int_equal(run->offers[run->offer_count - 1].threads, 16);
    assert_int_equal(run->offer_count, 40);
    roast_run_free(run);
    return n < 6;
}

static void every_allocation_may_fail(void **state)
{
    size_t n = 1;
    (void)state;

    test_heap_install();
    while (step_survives(n))
        n++;
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_and_leaves_are_steps_of_the_offer),
        cmocka_unit_test(a_session_keeps_its_fields),
        cmocka_unit_test(who_was_there_before_joins_at_the_start),
        cmocka_unit_test(news_out_of_order_gives_the_same_sums),
        cmocka_unit_test(a_worker_that_comes_back_has_two_sessions),
        cmocka_unit_test(a_second_join_implies_a_leave),
        cmocka_unit_test(a_worker_reported_twice_is_counted_once),
        cmocka_unit_test(who_never_joined_cannot_leave),
        cmocka_unit_test(times_that_make_no_sense_do_no_harm),
        cmocka_unit_test(nothing_secret_is_kept),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(ten_thousand_workers_are_one_step),
        cmocka_unit_test(sessions_above_the_limit_are_counted),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
