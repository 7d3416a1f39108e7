/* SPDX-License-Identifier: BSD-3-Clause */
/* test_schedule_model.c - the wall time of chunks, replayed after a change: the longest
 * chunk, the tail and late threads are in it. */
#include "analyze/patients.h"

/* 0 where none is given. */
static double saves(const roast_summary *summary, const char *id)
{
    for (size_t i = 0; i < rows_of(summary, "findings"); i++) {
        if (str_is(text_at(summary, "findings", i, "id"), id))
            return cell_at(summary, "findings", i, "saves_wall_seconds").number;
    }
    fail_msg("no finding %s", id);
    return 0;
}

static roast_summary *summary_of_patient(struct patient patient)
{
    roast_run *run = patient_new(patient, NULL);
    roast_summary *summary = summary_of(run);

    roast_run_free(run);
    return summary;
}

/* Ten rounds of chunks, each 0.5 s shorter. */
static void test_what_all_chunks_have_is_saved_in_each_round(void **state)
{
    roast_summary *summary = summary_of_patient((struct patient){.fetch = 0.5});

    (void)state;
    assert_near(saves(summary, "waiting_for_data"), 10 * 0.5);
    roast_summary_free(summary);
}

/* The same 20 s of threads, but one long chunk remains: it waits for no data. */
static void test_the_longest_chunk_remains(void **state)
{
    const struct patient alone = {.workers = 6, .per_file = 100};
    roast_run *run = patient_new((struct patient){.fetch = 0.5}, NULL);
    struct roast_ladder ladder = {0};

    (void)state;
    set_part(&ladder, ROAST_ITEM_compute, 15.5);
    join_on(run, worker_named(5), "red-c1", 0);
    (void)add_patient_chunk(run, &alone, 95, ladder_blob(&ladder), 0.1, 15.5);
    roast_summary *summary = summary_of(run);
    assert_near(saves(summary, "waiting_for_data"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* 30 tasks of 1 s: two threads for 5 s, then four for 5 s. Four need 8 s. */
static void test_workers_that_come_late(void **state)
{
    roast_run *run = run_new();
    uint32_t key = 0;

    (void)state;
    join_on(run, worker_named(0), "red-c1", 0);
    join_on(run, worker_named(1), "red-c2", 5);
    for (int second = 0; second < 10; second++) {
        for (int thread = 0; thread < (second < 5 ? 2 : 4); thread++)
            add_task(run, "own", worker_named(thread / 2), ++key, ROAST_TASK_ok, second,
                     second + 1);
    }
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_near(saves(summary, "waiting_for_workers"), 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Imports are in the first chunk of a worker only: that is no saving per chunk. */
static void test_a_one_time_cost_says_when_it_is_saved(void **state)
{
    roast_summary *summary = summary_of_patient((struct patient){.import = 0.3});
    size_t rows = rows_of(summary, "findings");

    (void)state;
    for (size_t i = 0; i < rows; i++) {
        if (str_is(text_at(summary, "findings", i, "id"), "worker_imports"))
            assert_str_is(text_at(summary, "findings", i, "saving"),
                          "about 3.00 s on the next run");
    }
    assert_near(saves(summary, "worker_imports"), 10 * 0.3);
    roast_summary_free(summary);
}

/* The first tasks of the workers read the number of entries; chunks follow at once. */
static void test_first_contact_may_be_in_preprocessing(void **state)
{
    roast_run *run = patient_new((struct patient){.begin = 3.6}, NULL);

    (void)state;
    for (uint32_t worker = 0; worker < 2; worker++) {
        const struct roast_task asked = {.prefix = roast_str_of("get_metadata"),
                                         .worker =
                                             roast_str_of(worker_named((int)worker)),
                                         .key_hash = 90000 + worker,
                                         .ours = true,
                                         .end = ROAST_TASK_ok,
                                         .assigned_ns = at(0.5),
                                         .start_ns = at(3.5),
                                         .stop_ns = at(3.6)};
        assert_int_equal(roast_run_add_task(run, &asked, NULL), ROAST_OK);
    }
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "budget", 0, "dispatch_first"), 2 * 3);
    assert_near(saves(summary, "worker_imports"), 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Tasks of others hold both threads for 5 s; the chunks were sent after 1 s. */
static void test_tasks_that_were_there_before_the_chunks(void **state)
{
    roast_run *run = patient_new(
        (struct patient){.workers = 1, .chunks = 2, .begin = 1, .gap = 4, .compute = 8},
        NULL);

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        add_task(run, "other", worker_named(0), 0, ROAST_TASK_ok, 0, 5);
    roast_summary *summary = summary_of(run);
    assert_near(saves(summary, "foreign_tasks"), 4);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* All threads are busy for others until the first chunk is sent, after 5 s. */
static void test_chunks_that_wait_for_others_to_be_sent(void **state)
{
    roast_run *run = patient_new(
        (struct patient){.threads = 1, .chunks = 2, .begin = 5, .compute = 8}, NULL);

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    mark(run, ROAST_MARK_RUN_END, 13);
    for (int i = 0; i < 2; i++)
        add_task(run, "other", worker_named(i), 0, ROAST_TASK_ok, 0, 5);
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "wall_account", 0, "wait_first_worker"), 4);
    assert_near(saves(summary, "foreign_tasks"), 4);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Many calls of the user's own, then a few chunks that were long on their way. */
static void test_waits_are_those_of_the_tasks_that_are_named(void **state)
{
    roast_run *run = patient_new((struct patient){.workers = 1,
                                                  .threads = 1,
                                                  .chunks = 4,
                                                  .compute = 0.1,
                                                  .begin = 2,
                                                  .gap = 1},
                                 NULL);

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        add_task(run, "own", worker_named(0), 5000 + i, ROAST_TASK_ok, 0.01 * i,
                 0.01 * i + 0.009);
    roast_summary *summary = summary_of(run);
    assert_true(number_at(summary, "budget", 0, "dispatch") > 3);
    for (size_t i = 0; i < rows_of(summary, "findings"); i++)
        assert_false(str_is(text_at(summary, "findings", i, "id"), "tasks_too_short"));
    roast_summary_free(summary);
    roast_run_free(run);
}

/* 400 tasks of 10 ms on two threads, 40 ms between two of them: 200 in one take 2 s. */
static void test_short_tasks_of_the_users_own(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, worker_named(0), "red-c1", 0);
    for (uint32_t i = 0; i < 400; i++)
        add_task(run, "own", worker_named(0), i + 1, ROAST_TASK_ok, 0.05 * i,
                 0.05 * i + 0.01);
    roast_run_finish(run, NS(20));
    roast_summary *summary = summary_of(run);
    assert_true(saves(summary, "tasks_too_short") > 17);
    assert_true(saves(summary, "tasks_too_short") < 18);
    assert_str_is(
        text_at(summary, "findings", 0, "advice"),
        "more work in each task: 200 of these calls in one take about 2.00 s");
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_all_chunks_have_is_saved_in_each_round),
        cmocka_unit_test(test_the_longest_chunk_remains),
        cmocka_unit_test(test_workers_that_come_late),
        cmocka_unit_test(test_a_one_time_cost_says_when_it_is_saved),
        cmocka_unit_test(test_first_contact_may_be_in_preprocessing),
        cmocka_unit_test(test_tasks_that_were_there_before_the_chunks),
        cmocka_unit_test(test_chunks_that_wait_for_others_to_be_sent),
        cmocka_unit_test(test_waits_are_those_of_the_tasks_that_are_named),
        cmocka_unit_test(test_short_tasks_of_the_users_own),
    };

    return cmocka_run_group_tests_name("schedule_model", tests, NULL, NULL);
}
