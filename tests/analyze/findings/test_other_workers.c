/* SPDX-License-Identifier: BSD-3-Clause */
/* test_other_workers.c - runs replayed with half and twice as many workers. */
#include "analyze/patients.h"

static roast_summary *summary_of_patient(struct patient patient)
{
    roast_run *run = patient_new(patient, NULL);
    roast_summary *summary = summary_of(run);

    roast_run_free(run);
    return summary;
}

static void check_row(const roast_summary *summary, size_t row, double workers,
                      double wall_s, double thread_s)
{
    assert_near(number_at(summary, "other_workers", row, "workers"), workers);
    assert_near(number_at(summary, "other_workers", row, "wall_seconds"), wall_s);
    assert_near(number_at(summary, "other_workers", row, "thread_seconds"), thread_s);
}

/* 40 chunks of 1.05 s on four threads: ten rounds, else twenty or five. */
static void test_busy_threads_are_needed(void **state)
{
    roast_summary *summary = summary_of_patient((struct patient){.chunks = 40});

    (void)state;
    assert_metric(summary, wall_time, 10.6);
    assert_int_equal(rows_of(summary, "other_workers"), 2);
    check_row(summary, 0, 1, 0.1 + 21, 2 * 21.1);
    check_row(summary, 1, 4, 0.1 + 5.25, 8 * 5.35);
    assert_near(number_at(summary, "other_workers", 0, "longer_percent"),
                100 * (21.1 / 10.6 - 1));
    assert_near(number_at(summary, "other_workers", 0, "more_percent"),
                100 * (2 * 21.1 / (4 * 10.6) - 1));
    roast_summary_free(summary);
}

/* Five workers with a thread each have three chunks: two of them take two rounds. */
static void test_idle_threads_are_not(void **state)
{
    roast_summary *summary = summary_of_patient(
        (struct patient){.workers = 5, .threads = 1, .chunks = 3, .after = 7.85});

    (void)state;
    assert_metric(summary, wall_time, 9);
    check_row(summary, 0, 2, 9 + 1.05, 2 * 10.05);
    check_row(summary, 1, 10, 9, 10 * 9);
    roast_summary_free(summary);
}

/* The first chunk of each of four slots waits 2 s for its process: of two slots, two. */
static void test_each_thread_begins_once(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 4, 4);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, 0);
    mark(run, ROAST_MARK_PREPROCESS_END, 1);
    for (uint64_t i = 0; i < 8; i++)
        add_frame(run, (struct frame){.process = 1 + i % 4,
                                      .first = i,
                                      .stop = i + 1,
                                      .start = 3 + (double)(i / 4),
                                      .duration = 1});
    mark(run, ROAST_MARK_RUN_END, 5);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    check_row(summary, 0, 2, 1 + 2 + 4, 2 * 7);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Merging is spread over the workers: with half of them it may take twice as long. */
static void test_merging_takes_longer(void **state)
{
    roast_run *run = patient_new((struct patient){.chunks = 4, .merge = 2}, NULL);

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    mark(run, ROAST_MARK_RUN_END, 3.15);
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "wall_account", 0, "merge"), 2);
    check_row(summary, 0, 1, 0.1 + 2.1 + 4, 2 * 6.2);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_more_workers_share_what_chunks_wait_for(void **state)
{
    roast_summary *data = summary_of_patient((struct patient){.fetch = 0.5});
    roast_summary *cores = summary_of_patient((struct patient){.runqueue = 0.5});

    (void)state;
    assert_int_equal(rows_of(data, "other_workers"), 1);
    assert_int_equal(rows_of(cores, "other_workers"), 1);
    roast_summary_free(data);
    roast_summary_free(cores);
}

/* Without slices it is not known what chunks waited for. */
static void test_more_workers_need_slices(void **state)
{
    const struct patient patient = {.threads = 1};
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < 2; i++)
        admit(run, &patient, i);
    for (uint32_t i = 0; i < 4; i++) {
        const char *worker = worker_named((int)i % 2);
        double start = 1 + i / 2;
        add_task(run, "Processor", worker, i + 1, ROAST_TASK_ok, start, start + 1);
        add_frame_of_task(run,
                          (struct frame){.process = 1 + i % 2,
                                         .sequence = i + 1,
                                         .first = i,
                                         .stop = i + 1,
                                         .start = start,
                                         .duration = 1},
                          worker, i + 1);
    }
    roast_run_finish(run, NS(3));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "other_workers"), 1);
    assert_near(number_at(summary, "other_workers", 0, "workers"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A pool has the cores of one machine; its slots are threads. */
static void test_a_pool_has_no_more_workers(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 2, 2);
    for (uint64_t i = 0; i < 4; i++)
        add_frame(run, (struct frame){.process = 1 + i % 2,
                                      .first = i,
                                      .stop = i + 1,
                                      .start = (double)(i / 2),
                                      .duration = 1});
    roast_run_finish(run, NS(2));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "other_workers"), 1);
    check_row(summary, 0, 1, 4, 4);
    roast_summary_free(summary);
    roast_run_free(run);
}

static struct roast_str reason(const roast_summary *summary)
{
    assert_int_equal(rows_of(summary, "other_workers"), 0);
    return text_at(summary, "unavailable",
                   row_of(summary, "unavailable", "other_workers"), "why");
}

static void test_there_is_a_reason(void **state)
{
    roast_summary *late = summary_of_patient((struct patient){.joined = 5});
    roast_run *run = patient_new((struct patient){.chunks = 4}, NULL);

    (void)state;
    assert_str_is(reason(late), "the number of workers changed during the run");
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("failure"),
                                        roast_str_of("OSError"), NULL),
                     ROAST_OK);
    roast_summary *failed = summary_of(run);
    assert_str_is(reason(failed), "the run did not finish");
    roast_summary_free(failed);
    roast_summary_free(late);
    roast_run_free(run);
}

/* One worker cannot be halved. */
static void test_one_worker(void **state)
{
    roast_summary *summary = summary_of_patient((struct patient){.workers = 1});

    (void)state;
    assert_int_equal(rows_of(summary, "other_workers"), 1);
    assert_near(number_at(summary, "other_workers", 0, "workers"), 2);
    roast_summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busy_threads_are_needed),
        cmocka_unit_test(test_idle_threads_are_not),
        cmocka_unit_test(test_each_thread_begins_once),
        cmocka_unit_test(test_merging_takes_longer),
        cmocka_unit_test(test_more_workers_share_what_chunks_wait_for),
        cmocka_unit_test(test_more_workers_need_slices),
        cmocka_unit_test(test_a_pool_has_no_more_workers),
        cmocka_unit_test(test_there_is_a_reason),
        cmocka_unit_test(test_one_worker),
    };

    return cmocka_run_group_tests_name("other_workers", tests, NULL, NULL);
}
